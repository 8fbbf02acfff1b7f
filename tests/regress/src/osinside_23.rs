//! OSInside/flake-pilot 23: after a power failure the note about an instance is lost, its container is there, and no
//! call works any more.

use anyhow::{Result, ensure};
use std::fs;

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-23")?;
    kept.prints(&["sh", "-c", "echo data > /data"], "")?;
    for stopped in [true, false] {
        if stopped {
            kept.podman(&["kill", &kept.container()])?;
        }
        fs::remove_dir_all(kept.notes())?;
        kept.prints(&["cat", "/data"], "data\n")?;
    }
    // Cut off while it was written.
    fs::write(kept.notes().join("kept-23"), "half")?;
    kept.prints(&["cat", "/data"], "data\n")?;
    ensure!(kept.containers()?.len() == 1);
    kept.end()
}
