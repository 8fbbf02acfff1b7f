//! What the agent watches by itself while it lives, and what comes of it.

use crate::exec::Ids;
use crate::limits::WORDS_MAX;
use crate::lists::bounded;
use serde::{Deserialize, Serialize};

/// The agent's exit status when a watched script ended the container and the next call is to start it again. The
/// last line on the agent's standard error says why.
pub const ENDED_TO_RESTART: u8 = 101;

/// The same when the container is to be removed, with its data, and made anew by the next call.
pub const ENDED_TO_BE_REMOVED: u8 = 102;

/// A script that tells whether an instance is well: by its exit status, which is 0 when it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Liveness {
    /// For messages.
    pub description: String,
    /// Run as a [`Program::Script`](crate::Program::Script) is. Its input is empty, and of its output the last
    /// line is kept for the message.
    #[serde(with = "serde_bytes")]
    pub script: Vec<u8>,
    /// Set on top of the agent's own environment.
    #[serde(deserialize_with = "bounded::<_, _, WORDS_MAX>")]
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// The user; absent: the agent's own.
    pub user: Option<Ids>,
    /// Milliseconds that one try may take; then it is killed and has failed.
    pub timeout_ms: u32,
    /// Milliseconds between two tries, and before the first.
    pub interval_ms: u32,
    /// So many failures in a row make the action; 0 is as good as 1.
    pub failures: u32,
    /// What then happens.
    pub action: Action,
}

/// What comes of failures in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// All commands are ended, and the agent ends with [`ENDED_TO_RESTART`].
    Restart,
    /// All commands are ended, and the agent ends with [`ENDED_TO_BE_REMOVED`].
    Remove,
    /// The next connection gets a [`Reply::Note`](crate::Reply::Note).
    Report,
}
