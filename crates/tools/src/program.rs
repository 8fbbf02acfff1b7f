//! Where an external program is.

use crate::run::ToolError;
use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders that are looked at after `PATH`: a normal user's often lacks them.
const ALSO: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// An installed program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    name: &'static str,
    path: PathBuf,
}

impl Program {
    /// Looks for a program in `PATH`.
    ///
    /// # Errors
    /// [`ToolError::Missing`], with `install` as the command that would bring it.
    pub fn find(name: &'static str, install: &'static str) -> Result<Self, ToolError> {
        Self::find_in(&env::var_os("PATH").unwrap_or_default(), name, install)
    }

    /// Looks for a program in the folders of a search path.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn find_in(path: &OsStr, name: &'static str, install: &'static str) -> Result<Self, ToolError> {
        env::split_paths(path)
            .chain(ALSO.map(PathBuf::from))
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|candidate| is_executable(candidate))
            .map(|path| Self { name, path })
            .ok_or(ToolError::Missing { program: name, install })
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A call of it with these words.
    pub fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let mut command = Command::new(&self.path);
        command.args(words);
        command
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
