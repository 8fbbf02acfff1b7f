//! `podman`, from version 4.3 on: images, containers, and the words of a launch.
//!
//! The environment reaches it unchanged, `CONTAINERS_CONF`, `CONTAINERS_STORAGE_CONF` and
//! `STORAGE_DRIVER` with it.

mod containers;
mod copy;
mod images;
mod kept;
mod layers;
mod logs;
mod specimen;
mod unnoted;
mod unshare;
mod volumes;

pub use containers::{Container, ContainerState};
pub use copy::Owner;
pub use images::{Config as ImageConfig, Image, ImageFile, SCRATCH_LABEL};
pub use kept::{Kept, KeptConfig, KeptState};
pub use layers::{Folders, GraphDriver};
pub use specimen::{HostConfig, Inspection, Specimen, State, Volume};
pub use unshare::{Own, OwnKind};

use crate::program::Program;
use crate::run::{ToolError, capture};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest version that is supported: it hands a descriptor on at `run -d`.
const MINIMUM: (u32, u32) = (4, 3);
const MINIMUM_TEXT: &str = "4.3";
const INSTALL: &str = "apt-get install podman";
/// Descriptors and a readiness that were handed to this process, not to podman.
const SOMEBODY_ELSES: [&str; 4] = ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET"];
/// Names the file that says where podman's store is.
const STORAGE_CONF: &str = "CONTAINERS_STORAGE_CONF";

/// An installed podman and the store it works on.
#[derive(Debug, Clone)]
pub struct Podman {
    program: Program,
    storage_conf: Option<PathBuf>,
    environment: Environment,
}

/// The environment that podman gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// This process' own, in which its user has chosen podman's configuration.
    Own,
    /// Nothing but what every program needs: this process has more rights than whoever made its own.
    Clean,
}

/// Where programs are looked for, and root's home, in a clean environment.
const CLEAN: [(&str, &str); 2] =
    [("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ("HOME", "/root")];

impl Podman {
    /// Looks for podman in `PATH`. Its version is not asked for: that takes longer than a launch should.
    ///
    /// # Errors
    /// [`ToolError::Missing`].
    pub fn find() -> Result<Self, ToolError> {
        let program = Program::find("podman", INSTALL)?;
        Ok(Self { program, storage_conf: None, environment: Environment::Own })
    }

    /// Looks for podman where the system has it, to be run in a clean environment.
    ///
    /// # Errors
    /// [`ToolError::Missing`].
    pub fn find_clean() -> Result<Self, ToolError> {
        let program = Program::find_in(CLEAN[0].1.as_ref(), "podman", INSTALL)?;
        Ok(Self { program, storage_conf: None, environment: Environment::Clean })
    }

    /// With a store of its own: the file of the `podman_storage_conf` setting. The variable of the same
    /// meaning in the environment comes first.
    #[must_use]
    pub fn with_storage_conf(mut self, file: Option<&Path>) -> Self {
        let is_chosen = self.environment == Environment::Own && std::env::var_os(STORAGE_CONF).is_some();
        self.storage_conf = file.filter(|_| !is_chosen).map(Path::to_owned);
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
        command.env_clear().envs(self.variables());
        // Podman goes back to where it was started, and fails where that is gone.
        if std::env::current_dir().is_err() {
            command.current_dir("/");
        }
        command
    }

    /// The environment of a call.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<OsString, OsString> {
        let mut variables: BTreeMap<OsString, OsString> = match self.environment {
            Environment::Own => std::env::vars_os().collect(),
            Environment::Clean => CLEAN.map(|(name, value)| (name.into(), value.into())).into(),
        };
        for name in SOMEBODY_ELSES {
            variables.remove(OsStr::new(name));
        }
        variables.extend(self.storage_conf.iter().map(|file| (STORAGE_CONF.into(), file.into())));
        variables
    }

    fn unexpected(&self, verb: &str, reason: &impl ToString) -> ToolError {
        ToolError::Unexpected {
            program: self.program.name().to_owned(),
            verb: verb.to_owned(),
            reason: reason.to_string(),
        }
    }
}
