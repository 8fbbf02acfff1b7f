//! `sudo`: only ever `sudo -- LAUNCHER NAME SOCKET ...`, so that an administrator can allow just that.

use crate::program::Program;
use crate::run::ToolError;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Sudo where it is installed.
///
/// # Errors
/// [`ToolError::Missing`].
pub fn find() -> Result<Program, ToolError> {
    Program::find("sudo", "su -c 'apt-get install sudo'")
}

/// A call of a privileged launcher.
///
/// # Streams
/// The caller decides; a password is asked for on the terminal, not on these.
pub fn launcher<W: AsRef<OsStr>>(
    sudo: &Program,
    launcher: &Path,
    words: impl IntoIterator<Item = W>,
) -> Command {
    let mut command = sudo.command(["--"]);
    command.arg(launcher).args(words);
    command
}
