//! The same command under podman, with the options that the flake stands for.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use flake_testkit::Call;
use serde_json::Value;

use super::{Person, Scene};
use crate::Tree;

/// `podman run` of the probe with these words.
pub(super) fn run(scene: &Scene<'_>, folder: &Path, words: &[&str]) -> Result<Command> {
    let mut command = podman(scene, &["run", "--rm", "--interactive", "--log-driver=none"], folder)?;
    command.arg("/bin/probe").args(words);
    Ok(command)
}

/// The masked and the read-only paths of the specification that podman writes for such a container.
pub(super) fn listed_paths(scene: &Scene<'_>, folder: &Path) -> Result<Vec<String>> {
    let mut create = podman(scene, &["create"], folder)?;
    create.arg("/bin/probe");
    let id = Call::new(create).check()?.out().trim().to_owned();
    let of_podman = |words: &[&str]| scene.host.podman(scene.way.user, words.iter().chain(&[id.as_str()]));
    of_podman(&["init"]).check()?;
    let path = of_podman(&["inspect", "--format", "{{.OCIConfigPath}}"]).check()?.out();
    let specification: Value = serde_json::from_slice(&fs::read(path.trim())?)?;
    of_podman(&["rm", "--force", "--time=0"]).check()?;
    let list = |name: &str| specification["linux"][name].as_array().cloned().context("no list of paths");
    let paths = list("maskedPaths")?.into_iter().chain(list("readonlyPaths")?);
    Ok(paths.filter_map(|path| Some(path.as_str()?.to_owned())).collect())
}

fn podman(scene: &Scene<'_>, verb: &[&str], folder: &Path) -> Result<Command> {
    let user = scene.way.user;
    let image = Tree::PROBE.import(scene.host, user)?;
    let mut command = user.command("/usr/bin/podman");
    command.args(verb).args(["--pull=never", "--http-proxy=false", "--network=host"]);
    if scene.person == Person::Caller {
        let folder = folder.display();
        command.arg(format!("--mount=type=bind,src={folder},dst={folder},nodev,nosuid"));
        command.arg(format!("--workdir={folder}")).arg("--tz=local");
        command.arg(format!("--user={0}:{0}", user.id));
        if user.id != 0 {
            let home = user.home();
            let home = home.display();
            command.arg("--userns=keep-id");
            command.arg(format!("--passwd-entry={0}:*:{1}:{1}:{0}:{home}:/bin/sh", user.name, user.id));
            command.arg(format!("--mount=type=tmpfs,dst={home},tmpfs-mode=0700,nodev,nosuid,exec,U"));
        }
    }
    command.arg(image);
    Ok(command)
}
