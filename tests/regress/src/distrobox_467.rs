//! 89luca89/distrobox 467: the wrapper adds a complaint of its own when the command exits with an error.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.app.call(&["false"]).run()?;
    ensure!(outcome.code == Some(1) && outcome.stderr.is_empty(), "{outcome}");
    Ok(())
}
