//! Elektrobit/flake-pilot 129: without the engine's program there is no word about what is missing.
//!
//! Runs alone, since podman is away from the host meanwhile.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, AGENT_WAY, Call, Image};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ADA, ("word-129", &Image::BOX, "/bin/busybox"), AGENT_WAY)?;
    let say = || {
        let mut command = ADA.command(&app);
        command.args(["echo", "word"]);
        Call::new(command).run()
    };
    let (podman, aside) = (Path::new("/usr/bin/podman"), Path::new("/usr/bin/podman.aside"));
    fs::rename(podman, aside)?;
    let absent = say();
    let direct = ground.app.call(&["echo", "word"]).run();
    fs::write(podman, "#!/bin/sh\necho 'Error: something is broken' >&2\nexit 77\n")?;
    fs::set_permissions(podman, Permissions::from_mode(0o755))?;
    let broken = say();
    fs::rename(aside, podman)?;
    for (what, outcome) in [("absent", absent?), ("broken", broken?)] {
        ensure!(outcome.code == Some(125) && outcome.out().is_empty(), "{what}: {outcome}");
        ensure!(outcome.err().contains("podman") && outcome.err().lines().count() <= 3, "{what}: {outcome}");
    }
    // Without the agent's way nothing is missing.
    for outcome in [direct?, say()?] {
        ensure!(outcome.success() && outcome.out() == "word\n", "{outcome}");
    }
    Ok(())
}
