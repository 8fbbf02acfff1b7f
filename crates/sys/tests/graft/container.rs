//! A container with the agent as its first process, and how folders are mounted into it.

use crate::grafter;
use anyhow::{Context, Result, ensure};
use flake_testkit::{Call, Image, Outcome, ScratchHost, User};
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Podman hands descriptor 3 on to the container.
const START: &str = r#"exec 3<&0 </dev/null; LISTEN_FDS=1 exec podman run --detach --pull=never --log-driver=k8s-file \
    --network=none "$@""#;
const AGENT: [&str; 2] = ["--init", "--init-path=/usr/libexec/flake-pilot/sci"];

/// A running container, removed at the end.
pub(crate) struct Container<'a> {
    host: &'a ScratchHost,
    pub(crate) user: &'static User,
    id: String,
    pub(crate) pid: u32,
    removed: bool,
}

impl<'a> Container<'a> {
    /// Started by `user` with further options of podman's.
    pub(crate) fn start(
        host: &'a ScratchHost,
        user: &'static User,
        image: &Image,
        options: &[&str],
    ) -> Result<Self> {
        let image = host.image(user, image)?;
        // It has to be there, but nobody connects.
        let socket = PathBuf::from("/tmp").join(host.mark());
        let listener = UnixListener::bind(&socket)?;
        fs::remove_file(&socket)?;
        let mut command = user.command("/usr/bin/bash");
        command.args(["-c", START, "bash"]).args(options);
        // Podman puts no first process of its own among those of the host.
        if !options.contains(&"--pid=host") {
            command.args(AGENT);
        }
        command.args([image.as_str(), "sleep", &host.mark()]);
        let id = Call::new(command).stdin(OwnedFd::from(listener)).check()?.out().trim().to_owned();
        let mut container = Self { host, user, id, pid: 0, removed: false };
        let pid = container.podman(&["inspect", "--format={{.State.Pid}}"], &[]).check()?;
        container.pid = pid.out().trim().parse().context("the first process")?;
        ensure!(container.pid > 0, "it does not run: {}", container.podman(&["logs"], &[]).run()?);
        Ok(container)
    }

    fn podman(&self, before: &[&str], after: &[&str]) -> Call {
        self.host.podman(self.user, [before, &[&self.id], after].concat())
    }

    /// `sh -c SCRIPT` inside, as the container's root.
    pub(crate) fn inside(&self, script: &str) -> Call {
        self.as_id("0", script)
    }

    /// The same as another user.
    pub(crate) fn as_id(&self, id: &str, script: &str) -> Call {
        self.podman(&["exec", &format!("--user={id}:{id}")], &["/bin/sh", "-c", script])
    }

    /// What the script prints, without the last line's end.
    pub(crate) fn says(&self, script: &str) -> Result<String> {
        Ok(self.inside(script).check()?.out().trim_end().to_owned())
    }

    /// Mounts a folder at a path, as the container's user.
    pub(crate) fn graft(&self, folder: &Path, target: &Path) -> Result<Outcome> {
        Ok(Call::new(self.grafting(folder, target)).run()?)
    }

    /// Mounts a folder at the path that it has on the host.
    pub(crate) fn share(&self, folder: &Path) -> Result<()> {
        let outcome = self.graft(folder, folder)?;
        ensure!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome}", folder.display());
        Ok(())
    }

    /// The command of [`Self::graft`].
    pub(crate) fn grafting(&self, folder: &Path, target: &Path) -> Command {
        let mut command = self.user.command(grafter::program());
        command.arg(target).current_dir(folder).env(grafter::CONTAINER, self.pid.to_string());
        command
    }

    /// The mounts inside, at a path or below it: path and options, the uppermost last.
    pub(crate) fn mounts(&self, path: &Path) -> Result<Vec<(PathBuf, String)>> {
        let list = self.says("cat /proc/self/mountinfo")?;
        Ok(listed(&list).filter(|(place, _)| place.starts_with(path)).collect())
    }

    /// Stops and removes it, as podman does for everybody.
    pub(crate) fn end(mut self) -> Result<()> {
        self.podman(&["stop", "--time=2"], &[]).check()?;
        self.podman(&["rm"], &[]).check()?;
        self.removed = true;
        Ok(())
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        if !self.removed {
            let _ = self.podman(&["rm", "--force", "--time=0"], &[]).run();
        }
    }
}

fn listed(mountinfo: &str) -> impl Iterator<Item = (PathBuf, String)> {
    mountinfo.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(4);
        Some((fields.next()?.into(), fields.next()?.to_owned()))
    })
}

/// Where the host has mounts: as the tests see it, and as the user's podman does.
pub(crate) fn host_mounts(user: &User) -> Result<Vec<PathBuf>> {
    let mut places: Vec<_> =
        listed(&fs::read_to_string("/proc/self/mountinfo")?).map(|(place, _)| place).collect();
    if let Some(runtime) = user.runtime_dir() {
        let pid = fs::read_to_string(runtime.join("libpod/tmp/pause.pid"))?;
        let list = fs::read_to_string(format!("/proc/{}/mountinfo", pid.trim()))?;
        places.extend(listed(&list).map(|(place, _)| place));
    }
    places.sort();
    Ok(places)
}

/// A fresh folder that belongs to the user and nobody else enters, with a file in it, where no image has one.
pub(crate) fn folder(host: &ScratchHost, user: &User) -> Result<PathBuf> {
    let folder = user.home().join(format!("work-{}", host.mark())).join("project");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("file"), "of the host\n")?;
    for path in [folder.join("file"), folder.clone(), folder.join("..")] {
        chown(path, Some(user.id), Some(user.id))?;
    }
    fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(folder)
}
