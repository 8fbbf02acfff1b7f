//! What cannot be mounted, and what is said then.

use crate::Case;
use crate::container::{Container, folder, host_mounts};
use crate::grafter::{CONTAINER, program};
use anyhow::{Context, Result, ensure};
use flake_testkit::{ADA, BOB, Call, Image, ROOT, ScratchHost, User};
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) const CASES: &[Case] = &[
    ("places that are no folders", no_folders),
    ("somebody else's container", not_ones_own),
    ("a container that has ended", ended),
    ("a read-only root", read_only_root),
    ("a volume that passes mounts on", shared),
];

fn is_refused(container: &Container, folder: &Path, target: &str, reason: &str) -> Result<()> {
    let outcome = container.graft(folder, Path::new(target))?;
    let expected = format!("{target} cannot be mounted in {reason}\n");
    ensure!(!outcome.success() && outcome.err() == expected, "{target}: {outcome}");
    Ok(())
}

fn no_folders(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA] {
        let container = Container::start(host, user, &Image::BOX, &[])?;
        let folder = folder(host, user)?;
        for target in ["/", "work", "/home/../project"] {
            is_refused(
                &container,
                &folder,
                target,
                "a container: it is no absolute path of a folder below the root",
            )?;
        }
        for target in ["/etc/passwd", "/etc/passwd/below"] {
            is_refused(&container, &folder, target, "the container: /etc/passwd is no folder inside")?;
        }
        container.end()?;
    }
    Ok(())
}

fn not_ones_own(host: &ScratchHost) -> Result<()> {
    for (user, owner) in [(&ADA, &ROOT), (&BOB, &ADA)] {
        let container = Container::start(host, owner, &Image::BOX, &[])?;
        let folder = folder(host, user)?;
        let before = container.mounts(Path::new("/"))?;
        let outcome = graft(user, container.pid, &folder)?;
        let text = "another user's container";
        ensure!(!outcome.success() && outcome.err().contains(text), "{outcome}");
        ensure!(container.mounts(Path::new("/"))? == before, "mounted nevertheless");
        container.end()?;
    }
    Ok(())
}

fn graft(user: &User, pid: u32, folder: &Path) -> Result<flake_testkit::Outcome> {
    let mut command = user.command(program());
    command.arg(folder).current_dir(folder).env(CONTAINER, pid.to_string());
    Ok(Call::new(command).run()?)
}

fn ended(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA] {
        let folder = folder(host, user)?;
        // Not waited for yet: its number is still its own.
        let mut process = user.command("/bin/true").spawn()?;
        flake_testkit::until(
            "the end of a process",
            || {
                let status = fs::read_to_string(format!("/proc/{}/stat", process.id())).ok()?;
                status.contains(") Z ").then_some(())
            },
            String::new,
        )?;
        let outcome = graft(user, process.id(), &folder)?;
        ensure!(outcome.err().ends_with("in the container: the container has ended\n"), "{outcome}");
        process.wait()?;
    }
    Ok(())
}

fn read_only_root(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA] {
        let container = Container::start(host, user, &Image::BOX, &["--read-only"])?;
        let folder = folder(host, user)?;
        is_refused(
            &container,
            &folder,
            "/project/x",
            "the container: /project inside: read-only file system",
        )?;
        // What is there already can be used.
        let outcome = container.graft(&folder, Path::new("/root"))?;
        ensure!(outcome.success(), "{outcome}");
        container.end()?;
    }
    Ok(())
}

/// What is mounted there would be mounted on the host as well, and stay.
fn shared(host: &ScratchHost) -> Result<()> {
    let volume = Path::new("/srv/passed-on");
    fs::create_dir_all(volume)?;
    let on_host = |program: &str, words: &[&str]| -> Result<()> {
        let mut command = Command::new(program);
        command.args(words).arg(volume);
        Call::new(command).check().map(drop).context("on the host")
    };
    on_host("/usr/bin/mount", &["-t", "tmpfs", "-o", "mode=0755", "passed-on"])?;
    on_host("/usr/bin/mount", &["--make-shared"])?;
    let result = (|| {
        let container =
            Container::start(host, &ROOT, &Image::BOX, &["--volume=/srv/passed-on:/passed:shared"])?;
        let folder = folder(host, &ROOT)?;
        let before = host_mounts(&ROOT)?;
        let outcome = container.graft(&folder, Path::new("/passed/x"))?;
        let reason = "the container passes mounts on to the host: a volume of it is `shared`\n";
        ensure!(!outcome.success() && outcome.err().ends_with(reason), "{outcome}");
        ensure!(host_mounts(&ROOT)? == before, "mounted on the host");
        container.end()
    })();
    on_host("/usr/bin/umount", &[])?;
    result
}
