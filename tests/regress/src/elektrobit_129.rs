//! Elektrobit/flake-pilot 129: without the engine's program there is no word about what is missing.
//!
//! Runs alone, since podman is away from the host meanwhile.

use anyhow::{Result, ensure};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let (podman, aside) = (Path::new("/usr/bin/podman"), Path::new("/usr/bin/podman.aside"));
    fs::rename(podman, aside)?;
    let absent = ground.app.call(&["echo", "word"]).run();
    fs::write(podman, "#!/bin/sh\necho 'Error: something is broken' >&2\nexit 77\n")?;
    fs::set_permissions(podman, Permissions::from_mode(0o755))?;
    let broken = ground.app.call(&["echo", "word"]).run();
    fs::rename(aside, podman)?;
    for (what, outcome) in [("absent", absent?), ("broken", broken?)] {
        ensure!(outcome.code == Some(125) && outcome.out().is_empty(), "{what}: {outcome}");
        ensure!(outcome.err().contains("podman") && outcome.err().lines().count() <= 3, "{what}: {outcome}");
    }
    let outcome = ground.app.call(&["echo", "word"]).run()?;
    ensure!(outcome.out() == "word\n", "{outcome}");
    Ok(())
}
