//! Why an instance is not ready.

use crate::guest::{GuestError, ScriptEnd, shown};
use crate::provision::Said;
use std::fmt;
use std::time::Duration;

/// An instance is not ready.
#[derive(Debug)]
pub struct ProbeError {
    /// The probe's place in the flake file, from 0.
    pub index: usize,
    /// What was waited for.
    pub description: Option<String>,
    /// What to look at.
    pub hint: Option<String>,
    /// Why it is not.
    pub cause: Cause,
}

/// Why it is not.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The probe did not pass in time.
    #[error("did not pass within {}: {last}{}", shown(*deadline), Said(said))]
    NotReady {
        /// The time it had.
        deadline: Duration,
        /// How its last try ended.
        last: ScriptEnd,
        /// The last lines of that try's output.
        said: Vec<String>,
    },
    /// It could not be tried.
    #[error("cannot be tried: {0}")]
    Guest(#[from] GuestError),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "probes[{}]", self.index)?;
        if let Some(description) = &self.description {
            write!(formatter, " ({description})")?;
        }
        write!(formatter, " {}", self.cause)?;
        match &self.hint {
            Some(hint) if matches!(self.cause, Cause::NotReady { .. }) => write!(formatter, "\nhint: {hint}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ProbeError {}

impl ProbeError {
    /// The signal, where one was the reason.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match &self.cause {
            Cause::Guest(error) => error.signal(),
            Cause::NotReady { .. } => None,
        }
    }
}
