//! `make bench`: the figures that are promised, as paired medians.

use crate::{build, stage};
use anyhow::{Context, Result, ensure};
use std::env;
use std::process::Command;

/// Measures, as root: launches are compared with podman's on a scratch host.
pub(crate) fn bench() -> Result<()> {
    let prefix = build::target_dir().join("stage");
    stage::stage(&prefix)?;
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--package", "flake-bench"])
        .current_dir(build::workspace_root())
        .env("FLAKE_STAGE", &prefix)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "measuring failed: {status}");
    Ok(())
}
