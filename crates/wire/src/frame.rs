//! The messages of either side.

use crate::exec::{Closing, Exec, Failure, Window};
use crate::limits::{REPLY_MAX, REQUEST_MAX, WATCHED_MAX};
use crate::lists::bounded;
use crate::watch::Liveness;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One decoded frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<M> {
    /// A message.
    Message(M),
    /// Bytes of a framed stream.
    Data {
        /// The stream's number: the file descriptor's number in the command, or 0 for a file's content.
        stream: u16,
        /// The bytes, at most [`DATA_MAX`](crate::DATA_MAX).
        bytes: Vec<u8>,
    },
}

/// What the launcher's side says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// The first frame.
    Hello {
        /// The version of the protocol.
        version: u16,
    },
    /// Run a command; the streams' file descriptors come beside it.
    Exec(Box<Exec>),
    /// A framed stream towards the command has ended.
    Eof {
        /// The stream's number.
        stream: u16,
    },
    /// That many bytes of a framed stream were consumed; as many more may be sent.
    Credit {
        /// The stream's number.
        stream: u16,
        /// Bytes.
        bytes: u32,
    },
    /// Send a signal.
    Signal {
        /// The signal's number on Linux.
        number: u8,
        /// Who gets it.
        target: SignalTarget,
    },
    /// The terminal's window has a new size.
    Resize(Window),
    /// The stopped command goes on.
    Continue,
    /// Asks for [`Reply::Pong`].
    Ping {
        /// Comes back in the answer.
        token: u64,
    },
    /// Asks for the content of a regular file: data frames of stream 0, then [`Reply::Eof`].
    ReadFile {
        /// The path in the agent's root.
        path: Vec<u8>,
    },
    /// Writes a regular file: data frames of stream 0 follow, then [`Request::Eof`]; answered by
    /// [`Reply::Done`] once the file stands complete under its name.
    WriteFile {
        /// The path in the agent's root.
        path: Vec<u8>,
        /// Permission bits.
        mode: u32,
    },
    /// Asks for [`Reply::Ports`].
    ListenPorts,
    /// The caller's terminal is gone: so is the command's, as soon as its master is closed on both sides. On the
    /// shared terminal only this member leaves, as long as there are others.
    HangUp,
    /// Join the terminal that all who join share, on which this command is started if none runs. All streams are
    /// [`Source::Terminal`](crate::Source::Terminal), nothing is passed. Answered by [`Reply::Started`]; whatever
    /// the command becomes, [`Reply::Stopped`] and [`Reply::Exit`] go to all who joined. It ends with the last.
    Join(Box<Exec>),
    /// From now on run these, at most [`WATCHED_MAX`], on the agent's own timer, in place of what was watched before. Answered by
    /// [`Reply::Done`].
    Watch(#[serde(deserialize_with = "bounded::<_, _, WATCHED_MAX>")] Vec<Liveness>),
}

/// Who gets a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignalTarget {
    /// The command's first process, as `kill PID` on a native command would.
    Process,
    /// Its process group, as a terminal does with ^C.
    Group,
}

/// What the agent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The first frame. When `watch` is set, a pidfd of the agent comes beside it.
    Hello {
        /// The version of the protocol.
        version: u16,
        /// The agent's release, for messages.
        agent: String,
        /// Whether a pidfd of the agent comes beside this frame.
        watch: bool,
    },
    /// The command runs. When it was given a terminal, the pty's master comes beside this frame. After
    /// [`Request::Join`] it is for settings only, and before it comes one end of a socket pair, which carries what
    /// is typed and shown.
    Started {
        /// The process id in the agent's pid namespace.
        pid: u32,
    },
    /// The operation could not be done; nothing runs.
    Failed(Failure),
    /// A framed stream from the command, or a file's content, has ended.
    Eof {
        /// The stream's number.
        stream: u16,
    },
    /// That many bytes of a framed stream were consumed; as many more may be sent.
    Credit {
        /// The stream's number.
        stream: u16,
        /// Bytes.
        bytes: u32,
    },
    /// The command was stopped by a signal.
    Stopped {
        /// The signal's number on Linux.
        signal: u8,
    },
    /// The command has ended; nothing follows.
    Exit(Closing),
    /// Answers [`Request::Ping`].
    Pong {
        /// The token of the ping.
        token: u64,
    },
    /// A file was written, or what is to be watched is.
    Done,
    /// Answers [`Request::ListenPorts`].
    Ports(Vec<Port>),
    /// Comes before the answer to [`Request::Exec`] or [`Request::Join`]: what the person who calls should know, one
    /// line.
    Note {
        /// The line, at most [`NOTE_MAX`](crate::NOTE_MAX) bytes.
        text: String,
    },
}

/// A listening port in the agent's network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Port {
    /// TCP or UDP.
    pub protocol: PortProtocol,
    /// The address it listens on.
    pub address: std::net::IpAddr,
    /// The port's number.
    pub port: u16,
}

/// The protocol of a [`Port`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PortProtocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// The messages of one side, with the bound that the other side puts on them.
pub trait Message: Serialize + DeserializeOwned {
    /// The longest frame, in bytes after the length.
    const FRAME_MAX: usize;
}

impl Message for Request {
    const FRAME_MAX: usize = REQUEST_MAX;
}

impl Message for Reply {
    const FRAME_MAX: usize = REPLY_MAX;
}
