//! What can go wrong between the caller and the agent.

use flake_wire::WireError;
use std::io;

/// A session cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Signals cannot be received.
    #[error("cannot receive signals: {0}")]
    Signals(io::Error),
    /// Waiting failed.
    #[error("cannot wait for the command: {0}")]
    Wait(io::Error),
    /// The terminal cannot be used.
    #[error("cannot use the terminal: {0}")]
    Terminal(io::Error),
    /// The connection failed.
    #[error("lost the connection to the agent: {0}")]
    Connection(io::Error),
    /// The agent does not keep to the protocol, or the request is too long for it.
    #[error("cannot talk to the agent: {0}")]
    Protocol(#[from] WireError),
    /// The agent speaks another version.
    #[error("the agent inside is of release {0}, which this launcher does not understand")]
    Version(String),
    /// The agent is silent.
    #[error("the agent inside does not answer")]
    NoAnswer,
}
