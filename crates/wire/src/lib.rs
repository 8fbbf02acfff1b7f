//! The protocol between the launcher and `sci`, the agent inside a container or virtual machine.
//!
//! # Connection
//!
//! A connection is a byte stream: one end of a socket pair, a Unix socket, or vsock. It carries one
//! operation: a command, a place at the shared terminal, a file read, a file write, a list of listening
//! ports, what is to be watched, or pings. Whoever wants two commands at once opens two connections, so
//! nobody who is handed a connection on which a command runs can start another one with it. When the
//! launcher's side closes, the agent kills the command; on the shared terminal when the last one does.
//!
//! Both sides send [`Request::Hello`] / [`Reply::Hello`] first, without waiting for the other's, and
//! close the connection when the version is neither [`VERSION`] nor the one before it. A
//! [`Reply::Note`] may follow the agent's greeting at once.
//!
//! # Frames
//!
//! ```text
//! u32 little endian   number of bytes that follow: kind and payload
//! u8                  kind: 0 a message, 1 data
//! payload             message: a Request or a Reply in postcard's format
//!                     data: u16 little endian stream number, then the bytes
//! ```
//!
//! Messages are written in the format of postcard 1 (<https://postcard.jamesmunns.com/wire-format>).
//! The enums of this crate may grow at their end within one version; any other change makes a new one.
//!
//! # Streams and file descriptors
//!
//! Where both sides share a kernel the launcher passes its file descriptors with `SCM_RIGHTS` beside
//! the bytes of the exec frame, and data never goes through frames. Over vsock a stream is framed:
//! data frames carry its number, [`Request::Eof`] / [`Reply::Eof`] ends it, and a sender may have at
//! most [`WINDOW`] bytes under way that the receiver has not given back with credit.

mod codec;
mod exec;
mod frame;
mod handoff;
mod limits;
mod lists;
mod watch;

pub use codec::{Decoder, WireError, encode, encode_data};
pub use exec::{
    Account, Closing, Exec, Failure, FailureKind, Ids, Modes, Program, Source, Stream, StreamDirection,
    Window,
};
pub use frame::{Frame, Message, Port, PortProtocol, Reply, Request, SignalTarget};
pub use handoff::{Handed, Handoff};
pub use limits::{DATA_MAX, FDS_MAX, NOTE_MAX, REPLY_MAX, REQUEST_MAX, WATCHED_MAX, WINDOW, WORDS_MAX};
pub use watch::{Action, ENDED_TO_BE_REMOVED, ENDED_TO_RESTART, Liveness};

/// The version of the protocol that this crate speaks; the one before it is accepted too.
pub const VERSION: u16 = 1;

/// Whether a peer that says it speaks `version` can be understood.
#[must_use]
pub fn understands(version: u16) -> bool {
    version == VERSION || version + 1 == VERSION && version > 0
}

/// The container command that a launcher gives podman when the words of the call follow the image's
/// entrypoint: it marks where the entrypoint ends on the agent's command line.
pub const ENTRYPOINT_ENDS: &str = "@flake-entrypoint-ends";
