//! An install tree: `bin/` and `libexec/flake-pilot/` below one folder.

use crate::build;
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// The engines' launchers: links to the one launcher binary.
const PILOTS: [&str; 3] = ["podman-pilot", "firecracker-pilot", "northstar-pilot"];
/// Older names of the management command.
const CTL_NAMES: [&str; 2] = ["oci-ctl", "oci-register"];

/// Builds everything and lays it out below `prefix`, replacing what an earlier stage left.
pub(crate) fn stage(prefix: &Path) -> Result<()> {
    let built = build::build()?;
    let bin = prefix.join("bin");
    let libexec = prefix.join("libexec/flake-pilot");
    for dir in [&bin, &libexec] {
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    }
    install(&built.pilot, &bin.join("flake-pilot"))?;
    install(&built.ctl, &bin.join("flake-ctl"))?;
    install(&built.sci, &libexec.join("sci"))?;
    for name in PILOTS {
        link("flake-pilot", &bin.join(name))?;
    }
    for name in CTL_NAMES {
        link("flake-ctl", &bin.join(name))?;
    }
    Ok(())
}

/// Copies a program beside its place and renames it over, so that a running one is not disturbed.
fn install(from: &Path, to: &Path) -> Result<()> {
    let fresh = to.with_extension("new");
    fs::copy(from, &fresh)
        .with_context(|| format!("cannot copy {} to {}", from.display(), fresh.display()))?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(0o755))?;
    fs::rename(&fresh, to).with_context(|| format!("cannot write {}", to.display()))
}

fn link(target: &str, path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => symlink(target, path),
    }
    .with_context(|| format!("cannot link {}", path.display()))
}
