//! Elektrobit/flake-pilot 45: each command line makes an instance of its own.

use anyhow::{Result, ensure};

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-45")?;
    for words in [&["echo", "--help"][..], &["echo", "ec2", "help"], &["sh", "-c", "true"]] {
        ensure!(kept.call(words)?.success());
    }
    ensure!(kept.containers()?.len() == 1, "{:?}", kept.containers());
    kept.prints(&["@mine", "echo", "another"], "another\n")?;
    ensure!(kept.containers()?.len() == 2, "{:?}", kept.containers());
    kept.end()
}
