//! Why there is no plan, and why a plan takes the agent's way.

use flake_engine::EngineError;
use flake_tools::ToolError;
use std::io;
use std::path::PathBuf;

/// Why a plan could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PlannerError {
    /// The flake's options are such that no launch is possible.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Podman failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file that podman made could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that podman made is not what the supported versions make.
    #[error("cannot understand {path}: {reason}")]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Why a launch goes the agent's way, in words that follow "because of".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason(pub(crate) String);

impl Reason {
    /// For a field of the specification, or a value of one, that nobody here handles.
    pub(crate) fn unknown(what: impl std::fmt::Display) -> Self {
        Self(format!("{what} is not known to the runner"))
    }
}

impl From<&str> for Reason {
    fn from(words: &str) -> Self {
        Self(words.to_owned())
    }
}

impl From<String> for Reason {
    fn from(words: String) -> Self {
        Self(words)
    }
}
