//! The product's own programs, beside this one.

use crate::failure::Failure;
use std::env;
use std::path::{Path, PathBuf};

/// The launcher of podman's flakes.
const LAUNCHER: &str = "podman-pilot";

/// Names by which the product finds its own programs and those it calls.
pub(crate) const RESERVED: [&str; 11] = [
    "flake-pilot",
    "podman-pilot",
    "firecracker-pilot",
    "northstar-pilot",
    "flake-ctl",
    "oci-ctl",
    "oci-register",
    "podman",
    "sudo",
    "newuidmap",
    "newgidmap",
];

/// The agent: `libexec/flake-pilot/sci` beside the folder of this program.
pub(crate) fn agent() -> Result<PathBuf, Failure> {
    let program =
        env::current_exe().map_err(|error| Failure::system("cannot find flake-ctl itself", &error))?;
    let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    Ok(prefix.join("libexec/flake-pilot/sci"))
}

/// The launcher that a command links to: it lies where this program does, whatever name it was called by.
pub(crate) fn launcher() -> Result<PathBuf, Failure> {
    let program =
        env::current_exe().map_err(|error| Failure::system("cannot find flake-ctl itself", &error))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let launcher = folder.join(LAUNCHER);
    if launcher.exists() {
        return Ok(launcher);
    }
    Err(Failure::new(format!("{LAUNCHER} is missing in {}", folder.display()))
        .hint("install it beside flake-ctl: make install"))
}
