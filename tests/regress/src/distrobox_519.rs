//! 89luca89/distrobox 519: entering takes a minute or two.
//!
//! The budget is wide, for a loaded machine; the bench has the exact figures.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};
use std::time::{Duration, Instant};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ADA, ("budget-519", &Image::BOX, "/bin/busybox"), &[])?;
    for (call, budget) in [("first", 15), ("second", 8)] {
        let start = Instant::now();
        let mut command = ADA.command(&app);
        command.arg("true");
        Call::new(command).check()?;
        ensure!(start.elapsed() < Duration::from_secs(budget), "the {call} call took {:?}", start.elapsed());
    }
    Ok(())
}
