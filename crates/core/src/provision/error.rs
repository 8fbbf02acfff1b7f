//! Why provisioning ended early.

use crate::guest::{GuestError, ScriptEnd};
use flake_schema::ProvisionMode;
use std::fmt;

/// Provisioning ended early.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct ProvisionError {
    /// Why.
    pub cause: Cause,
    /// The instance is new, and lacks what a script with `run: once` was to bring: nobody may use it.
    pub half_made: bool,
}

/// Why it ended.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// A script failed.
    #[error("provision[{index}] ({mode}) failed: {end}{}", Said(said))]
    Script {
        /// Its place in the flake file, from 0.
        index: usize,
        /// As whom it ran.
        mode: ProvisionMode,
        /// How it ended.
        end: ScriptEnd,
        /// The last lines of its output.
        said: Vec<String>,
    },
    /// The instance went away under a script.
    #[error("provision[{index}] ({mode}) failed: the instance went away{}", Said(said))]
    Gone {
        /// Its place in the flake file, from 0.
        index: usize,
        /// As whom it ran.
        mode: ProvisionMode,
        /// The last lines of its output.
        said: Vec<String>,
    },
    /// A script could not be had run.
    #[error("provision[{index}] ({mode}): {source}")]
    Guest {
        /// Its place in the flake file, from 0.
        index: usize,
        /// As whom it was to run.
        mode: ProvisionMode,
        /// Why not.
        source: GuestError,
    },
    /// It cannot be noted inside which scripts ran.
    #[error("cannot note which provisioning scripts ran: {0}")]
    Record(GuestError),
}

impl ProvisionError {
    /// The signal, where one was the reason.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match &self.cause {
            Cause::Guest { source, .. } | Cause::Record(source) => source.signal(),
            Cause::Script { .. } | Cause::Gone { .. } => None,
        }
    }
}

/// The last lines of an output, behind a message.
pub(crate) struct Said<'a>(pub(crate) &'a [String]);

impl fmt::Display for Said<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() {
            formatter.write_str("; its last lines:")?;
        }
        self.0.iter().try_for_each(|line| write!(formatter, "\n  {line}"))
    }
}
