//! The product's own programs, beside this one.

use crate::failure::Failure;
use std::env;
use std::path::{Path, PathBuf};

/// The launcher of podman's flakes.
const LAUNCHER: &str = "podman-pilot";
/// Everything else that is installed there.
const OTHERS: [&str; 6] =
    ["flake-pilot", "firecracker-pilot", "northstar-pilot", "flake-ctl", "oci-ctl", "oci-register"];

/// Where this program lies, whatever name it was called by.
fn folder() -> Result<PathBuf, Failure> {
    let program =
        env::current_exe().map_err(|error| Failure::system("cannot find flake-ctl itself", &error))?;
    Ok(program.parent().unwrap_or(Path::new("/")).to_owned())
}

/// The launcher that a command links to.
pub(crate) fn launcher() -> Result<PathBuf, Failure> {
    let folder = folder()?;
    let launcher = folder.join(LAUNCHER);
    if launcher.exists() {
        return Ok(launcher);
    }
    Err(Failure::new(format!("{LAUNCHER} is missing in {}", folder.display()))
        .hint("install it beside flake-ctl: make install"))
}

/// The programs that no command may replace.
pub(crate) fn programs() -> Result<Vec<PathBuf>, Failure> {
    let folder = folder()?;
    Ok(OTHERS.iter().chain([&LAUNCHER]).map(|name| folder.join(name)).collect())
}
