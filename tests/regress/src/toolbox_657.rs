//! containers/toolbox 657: run always returns 0.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.app.call(&["sh", "-c", "exit 33"]).run()?;
    ensure!(outcome.code == Some(33), "{outcome}");
    Ok(())
}
