//! Elektrobit/flake-pilot 119: what is noted about instances is lost with /tmp at a restart of the host, and no
//! instance can be resumed.
//!
//! The container is stopped, and all that a restart wipes is gone: the next call finds the data.

use anyhow::Result;
use flake_testkit::ADA;
use std::fs;

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-119")?;
    kept.prints(&["sh", "-c", "echo data > /data"], "")?;
    kept.podman(&["stop", "--time", "0", &kept.container()])?;
    for folder in [ADA.runtime_dir().map(|folder| folder.join("flakes")), Some("/tmp/flakes-4242".into())] {
        let _ = folder.map(fs::remove_dir_all);
    }
    kept.prints(&["cat", "/data"], "data\n")?;
    kept.end()
}
