//! Why a test tool could not do its work.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use crate::Outcome;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a test tool could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried, with the path or name.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// A command that had to succeed did not.
    #[error("{command} failed: {outcome}")]
    Failed {
        /// The command line.
        command: String,
        /// How it ended and what it said.
        outcome: Box<Outcome>,
    },
    /// Something did not happen in time.
    #[error("timed out waiting for {what}\n{seen}")]
    Late {
        /// What was waited for.
        what: String,
        /// What was there instead.
        seen: String,
    },
    /// The process that was to build the product or the host failed.
    #[error("{0}")]
    Setup(String),
    /// A path has something else below it than expected.
    #[error("{path} {problem}")]
    Path {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// Names the thing that failed.
pub(crate) trait Context<T> {
    /// `what` follows the words "cannot".
    fn context<D: Display>(self, what: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: Into<io::Error>> Context<T> for std::result::Result<T, E> {
    fn context<D: Display>(self, what: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| Error::System { what: what().to_string(), error: error.into() })
    }
}
