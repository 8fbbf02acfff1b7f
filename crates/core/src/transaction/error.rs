//! Why a change was not made.

use crate::store::StoreError;
use flake_sys::reason::reason;
use std::io;
use std::path::{Path, PathBuf};

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The system refuses.
    #[error("cannot {what} {}: {}", path.display(), reason(source))]
    System {
        /// What was to be done.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The image store refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This process was asked to stop.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
}

impl ChangeError {
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::System { what, path: path.to_owned(), source }
    }

    /// The signal, where one was the reason.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match self {
            Self::Interrupted(signal) | Self::Store(StoreError::Interrupted(signal)) => Some(*signal),
            _ => None,
        }
    }
}
