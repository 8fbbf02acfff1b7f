//! `podman`, from version 4.3 on: images, containers, and the words of a launch.
//!
//! The environment reaches it unchanged, `CONTAINERS_CONF`, `CONTAINERS_STORAGE_CONF` and
//! `STORAGE_DRIVER` with it.

mod containers;
mod images;
mod layers;

pub use containers::{Container, ContainerState};
pub use images::{Image, ImageFile};
pub use layers::{Folders, GraphDriver};

use crate::program::Program;
use crate::run::{ToolError, capture};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest version that is supported: it hands a descriptor on at `run -d`.
const MINIMUM: (u32, u32) = (4, 3);
const MINIMUM_TEXT: &str = "4.3";
/// Names the file that says where podman's store is.
const STORAGE_CONF: &str = "CONTAINERS_STORAGE_CONF";

/// An installed podman and the store it works on.
#[derive(Debug, Clone)]
pub struct Podman {
    program: Program,
    storage_conf: Option<PathBuf>,
}

impl Podman {
    /// Looks for podman in `PATH`. Its version is not asked for: that takes longer than a launch should.
    ///
    /// # Errors
    /// [`ToolError::Missing`].
    pub fn find() -> Result<Self, ToolError> {
        let program = Program::find("podman", "apt-get install podman")?;
        Ok(Self { program, storage_conf: None })
    }

    /// With a store of its own: the file of the `podman_storage_conf` setting. The variable of the same
    /// meaning in the environment comes first.
    #[must_use]
    pub fn with_storage_conf(mut self, file: Option<&Path>) -> Self {
        self.storage_conf = file.filter(|_| std::env::var_os(STORAGE_CONF).is_none()).map(Path::to_owned);
        self
    }

    /// Checks the version.
    ///
    /// # Errors
    /// [`ToolError::TooOld`], or podman's own failure.
    pub fn check_version(&self) -> Result<(), ToolError> {
        let output = capture(&mut self.command(["version", "--format", "{{.Client.Version}}"]))?;
        let found = String::from_utf8_lossy(&output).trim().to_owned();
        let mut numbers = found.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version < MINIMUM {
            return Err(ToolError::TooOld { program: self.program.name(), found, minimum: MINIMUM_TEXT });
        }
        Ok(())
    }

    /// The program itself.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// A call with these words.
    pub fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let mut command = self.program.command(words);
        command.envs(self.variables());
        // A unit's readiness is not podman's to report.
        command.env_remove("NOTIFY_SOCKET");
        command
    }

    /// What a call needs in its environment besides the caller's own.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.storage_conf.as_deref().map(|file| (STORAGE_CONF, file)).into_iter()
    }

    fn unexpected(&self, verb: &str, reason: &impl ToString) -> ToolError {
        ToolError::Unexpected {
            program: self.program.name().to_owned(),
            verb: verb.to_owned(),
            reason: reason.to_string(),
        }
    }
}
