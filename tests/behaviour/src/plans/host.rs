//! The host's name, its resolver, its podman.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, ROOT};

use super::ground::{Case, Ground, works};

/// Alone, since the host is everybody's.
pub(super) const ALONE: &[Case] = &[
    ("a_host_of_another_name", renamed),
    ("files_of_the_host", files),
    ("configuration_of_the_host", configuration),
];

/// A file of the host that has its content again in the end.
struct Kept<'a> {
    path: &'a Path,
    content: Option<Vec<u8>>,
}

impl<'a> Kept<'a> {
    fn new(path: &'a str) -> Self {
        Self { path: Path::new(path), content: fs::read(path).ok() }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(self.content.as_deref().unwrap_or_default()).into_owned()
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        let _ = match &self.content {
            Some(content) => fs::write(self.path, content),
            None => fs::remove_file(self.path),
        };
    }
}

fn set_name(name: &str) -> Result<()> {
    let mut command = ROOT.command("/bin/busybox");
    command.args(["hostname", name]);
    Call::new(command).check().context("rename the host")?;
    Ok(())
}

fn renamed(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let before = flake.prints("hostname")?;
    let renamed = flake.is_planned_anew("renamed", || set_name("renamed"));
    let inside = flake.prints("hostname");
    set_name(&before)?;
    renamed?;
    let inside = inside?;
    ensure!(inside == "renamed", "{inside}");
    flake.is_planned_anew("as before", || Ok(()))?;
    ensure!(flake.prints("hostname")? == before);
    Ok(())
}

fn files(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    for (path, line) in [("/etc/resolv.conf", "nameserver 192.0.2.77\n"), ("/etc/hosts", "192.0.2.78\tfar\n")]
    {
        let kept = Kept::new(path);
        let text = kept.text() + line;
        // Both by writing it and by putting another in its place.
        flake.is_planned_anew(path, || Ok(fs::write(path, &text)?))?;
        let inside = flake.prints(&format!("cat {path}"))?;
        ensure!(inside.contains(line.trim()), "{path}: {inside}");
        drop(kept);
        flake.is_planned_anew(path, || Ok(()))?;
        let inside = flake.prints(&format!("cat {path}"))?;
        ensure!(!inside.contains(line.trim()), "{path}: {inside}");
    }
    Ok(())
}

fn configuration(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let path = "/etc/containers/containers.conf";
    let kept = Kept::new(path);
    let limits = "default_ulimits = [\"nofile=800:800\", \"nproc=1024:1024\"]";
    let rest = kept.text().split("\n[engine]").nth(1).unwrap_or_default().to_owned();
    flake.is_planned_anew("limits", || {
        Ok(fs::write(path, format!("[containers]\n{limits}\n\n[engine]{rest}"))?)
    })?;
    let inside = flake.prints("ulimit -n")?;
    ensure!(inside == "800", "{inside}");
    drop(kept);
    // And a file that comes to a folder of it.
    let folder = Path::new("/etc/containers/containers.conf.d");
    let was_there = folder.exists();
    fs::create_dir_all(folder)?;
    works(&flake.echo()?)?;
    let conf = folder.join("90-test.conf");
    let added = flake.is_planned_anew("one more file", || {
        Ok(fs::write(&conf, "[containers]\nenv = [\"FROM_CONF=yes\"]\n")?)
    });
    let inside = flake.prints("echo $FROM_CONF");
    fs::remove_file(&conf)?;
    if !was_there {
        fs::remove_dir(folder)?;
    }
    added?;
    ensure!(inside? == "yes");
    flake.is_planned_anew("as before", || Ok(()))
}
