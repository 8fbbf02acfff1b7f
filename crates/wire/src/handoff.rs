//! What passes between a caller's launcher and the privileged one that sudo starts for it: the call's
//! surroundings one way, a running session the other. Both are of the same release.

use crate::exec::{Modes, Stream, Window};
use crate::frame::Message;
use crate::limits::{REPLY_MAX, REQUEST_MAX, WORDS_MAX};
use crate::lists::bounded;
use serde::{Deserialize, Serialize};

/// A call's surroundings, which sudo does not hand on. The passed streams' descriptors come beside it,
/// and one of the working directory behind them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    /// The caller's environment; the flake's list decides what of it counts.
    #[serde(deserialize_with = "bounded::<_, _, WORDS_MAX>")]
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether a descriptor of the working directory comes beside.
    pub has_cwd: bool,
    /// File mode creation mask.
    pub umask: u32,
    /// Ignored signals, bit N-1 for signal N.
    pub ignored: u64,
    /// Blocked signals, bit N-1 for signal N.
    pub blocked: u64,
    /// The command's descriptors.
    pub streams: Vec<Stream>,
    /// The terminal's window.
    pub terminal: Option<Window>,
    /// The terminal's settings.
    pub modes: Option<Modes>,
    /// The label of the instance whose data the caller has given up.
    pub given_up: Option<String>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Handed {
    /// The command was asked for; the connection to the agent comes beside, and behind it what has to stay open while
    /// a kept instance is used.
    Session {
        /// For a person at the terminal.
        warning: Option<String>,
        /// The kept instance that was entered.
        instance: Option<String>,
    },
    /// Something for a person, while the caller waits.
    Notice {
        /// One line.
        text: String,
    },
    /// The call means one of several instances, and does not say which.
    Several {
        /// Their labels.
        #[serde(deserialize_with = "bounded::<_, _, WORDS_MAX>")]
        labels: Vec<String>,
    },
    /// What is in the instance of this label would be lost: the caller has to give it up first.
    Losing {
        /// The label.
        label: String,
    },
    /// All is done, and there is something to print.
    Said {
        /// The text for standard output.
        text: String,
    },
    /// The call was refused.
    Refused {
        /// Why, one line or more.
        message: String,
    },
}

impl Message for Handoff {
    /// What comes of it has to fit a request, with the words of the call beside it.
    const FRAME_MAX: usize = REQUEST_MAX / 2;
}

impl Message for Handed {
    const FRAME_MAX: usize = REPLY_MAX;
}
