//! 89luca89/distrobox 730: piped input never reaches the command.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.app.call(&["sh", "-c", "read -r x; echo got $x"]).input("pw\n").run()?;
    ensure!(outcome.out() == "got pw\n", "{outcome}");
    Ok(())
}
