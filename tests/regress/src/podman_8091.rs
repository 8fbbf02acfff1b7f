//! podman-container-tools/podman 8091: the id of a container cannot be learnt while it runs.
//!
//! The label is the way to it.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, AGENT_WAY, Call, Conversation, Image};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ADA, ("label-8091", &Image::BOX, "/bin/busybox"), AGENT_WAY)?;
    let mut command = ADA.command(&app);
    command.args(["sh", "-c", "echo ready; read -r x"]);
    let running = Conversation::new(Call::new(command).spawn()?);
    running.expect("ready\n")?;
    let filter =
        ["ps", "--quiet", "--filter", "label=flake.name=label-8091", "--filter", "label=flake.user=4242"];
    let outcome = ground.host.podman(&ADA, filter).check()?;
    ensure!(outcome.out().lines().count() == 1, "{outcome}");
    running.end()?;
    Ok(())
}
