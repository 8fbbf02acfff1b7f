//! Calls that name nothing.

use std::os::unix::fs::symlink;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call};

use super::{Case, Flakes, echo, readable, refused, works};

pub(super) const CASES: &[Case] = &[
    ("a_link_without_a_registration", unregistered),
    ("the_launcher_called_by_its_own_name", own_name),
    ("argv0_that_names_nothing", |_| as_name("nothing-at-all")),
    ("argv0_that_is_empty", |_| as_name("")),
    ("argv0_that_is_a_path", |_| as_name("../../etc/passwd")),
    ("argv0_that_is_very_long", |_| as_name(&"x".repeat(5000))),
    ("argv0_found_through_path", through_path),
    ("a_link_to_the_link", link_to_link),
];

fn unregistered(_: &Flakes<'_>) -> Result<()> {
    let link = ADA.home().join("unregistered");
    symlink("/usr/bin/podman-pilot", &link)?;
    refused(&echo(&link)?, "unregistered")
}

fn own_name(_: &Flakes<'_>) -> Result<()> {
    let outcome = Call::new(ADA.command("/usr/bin/podman-pilot")).run()?;
    ensure!(!outcome.success() && outcome.out().is_empty(), "{outcome}");
    readable(&outcome, "podman-pilot")
}

fn as_name(name: &str) -> Result<()> {
    let mut command = ADA.command("/usr/bin/bash");
    command.args(["-c", r#"exec -a "$1" /usr/bin/podman-pilot word"#, "bash", name]);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.code == Some(125) && outcome.out().is_empty(), "{outcome}");
    ensure!(!outcome.err().contains("panicked") && outcome.err().lines().count() < 4, "{outcome}");
    Ok(())
}

fn through_path(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("on-path")?;
    let mut command = ADA.command("/usr/bin/bash");
    command.args(["-c", "PATH=~/bin:$PATH; on-path echo word"]);
    works(&Call::new(command).run()?)?;
    works(&flake.call()?)
}

fn link_to_link(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("first-name")?;
    let link = ADA.home().join("second-name");
    symlink(&flake.app, &link)?;
    works(&echo(&link)?)
}
