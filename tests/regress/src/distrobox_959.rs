//! 89luca89/distrobox 959: an ephemeral run drops the exit status of the command.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.app.call(&["sh", "-c", "exit 2"]).run()?;
    ensure!(outcome.code == Some(2), "{outcome}");
    Ok(())
}
