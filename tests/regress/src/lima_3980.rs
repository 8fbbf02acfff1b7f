//! lima-vm/lima 3980: a program that starts an instance cannot tell from the status whether provisioning failed.

use anyhow::{Result, ensure};

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-3980")?;
    kept.layer("provision:\n- script: exit 1\n")?;
    // Also not when it is tried again.
    for _ in 0..2 {
        ensure!(kept.call(&["true"])?.code == Some(125));
        ensure!(kept.containers()?.is_empty(), "half of an instance is left");
    }
    // The application's own status is another one.
    kept.layer("provision:\n- script: exit 0\n")?;
    ensure!(kept.call(&["sh", "-c", "exit 1"])?.code == Some(1));
    kept.end()
}
