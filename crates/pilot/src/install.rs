//! Where the project's own programs are: beside each other, wherever they were installed.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Names under which the launcher itself is called, not an application.
const OWN_NAMES: [&str; 4] = ["flake-pilot", "podman-pilot", "firecracker-pilot", "northstar-pilot"];

/// Whether a name is the launcher's own.
pub(crate) fn is_own_name(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| OWN_NAMES.contains(&name))
}

/// The agent: `libexec/flake-pilot/sci` beside the folder of this program.
pub(crate) fn agent() -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    let prefix = own.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    Ok(prefix.join("libexec/flake-pilot/sci"))
}

/// The launcher as sudo is to call it: a fixed path that an administrator can allow.
pub(crate) fn privileged() -> io::Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name("podman-pilot"))
}

/// The management command.
pub(crate) fn management() -> io::Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name("flake-ctl"))
}
