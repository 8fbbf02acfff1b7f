//! A command: what is run, with what around it, and how it ended.

use crate::limits::WORDS_MAX;
use crate::lists::bounded;
use serde::{Deserialize, Serialize};

/// A command to run. Words are bytes: no encoding is assumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exec {
    /// What is run.
    pub program: Program,
    /// The words after the program's own.
    #[serde(deserialize_with = "bounded::<_, _, WORDS_MAX>")]
    pub args: Vec<Vec<u8>>,
    /// Set on top of the agent's own environment, which is the image's.
    #[serde(deserialize_with = "bounded::<_, _, WORDS_MAX>")]
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// The working directory; absent: the agent's own, which is the image's.
    pub cwd: Option<Vec<u8>>,
    /// Device and inode (`st_dev`, `st_ino`) of the caller's working directory. When the folder at
    /// [`Self::cwd`] is another one, or none, nothing runs: [`FailureKind::NotShared`]. Without a `cwd` it
    /// means nothing.
    pub cwd_is: Option<(u64, u64)>,
    /// The user; absent: the agent's own.
    pub user: Option<Ids>,
    /// An account that is made first, for the user's names; absent: whatever the image has.
    pub account: Option<Account>,
    /// The file mode creation mask; absent: the agent's own.
    pub umask: Option<u32>,
    /// Signals that stay ignored, bit N-1 for signal N.
    pub ignored: u64,
    /// Signals that stay blocked, bit N-1 for signal N.
    pub blocked: u64,
    /// The command's open file descriptors; all others are closed.
    pub streams: Vec<Stream>,
    /// The terminal that [`Source::Terminal`] streams are.
    pub terminal: Option<Window>,
    /// How that terminal is set at first; absent: the kernel's defaults.
    pub modes: Option<Modes>,
}

/// What a command runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Program {
    /// What the image was made to run. Its words are the agent's own command line.
    Image,
    /// A path, or a name looked up in the command's `PATH`.
    Path(Vec<u8>),
    /// The text of a script, any bytes, run by the interpreter that its first line names after `#!`, as Linux
    /// does; without one by `/bin/sh`.
    Script(#[serde(with = "serde_bytes")] Vec<u8>),
}

/// Whom a command runs as: plain numbers in the agent's user namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ids {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
}

/// An account of the command's user, as the caller has it outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Login name.
    pub name: String,
    /// Name of the group.
    pub group: String,
    /// Full name or comment.
    pub gecos: String,
    /// Home directory.
    pub home: Vec<u8>,
    /// Whether the home directory was made for it, and is to be its own.
    pub owns_home: bool,
}

/// One file descriptor of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// The number it has in the command.
    pub number: u16,
    /// What it is.
    pub source: Source,
}

/// What a file descriptor of a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// The next of the descriptors that came beside the frame, in the order of the streams.
    Passed,
    /// The terminal.
    Terminal,
    /// A pipe whose other end is data frames of this number.
    Framed(StreamDirection),
}

/// Which way a framed stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamDirection {
    /// Read by the command.
    ToCommand,
    /// Written by the command.
    FromCommand,
}

/// The size of a terminal's window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Rows of characters.
    pub rows: u16,
    /// Columns of characters.
    pub columns: u16,
    /// Width in pixels, 0 where unknown.
    pub width: u16,
    /// Height in pixels, 0 where unknown.
    pub height: u16,
}

/// A terminal's settings: the fields of Linux' `struct termios`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modes {
    /// `c_iflag`.
    pub input: u32,
    /// `c_oflag`.
    pub output: u32,
    /// `c_cflag`.
    pub control: u32,
    /// `c_lflag`.
    pub local: u32,
    /// The special characters of `c_cc` in the kernel's order, the unused VSWTC left out.
    pub characters: Vec<u8>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closing {
    /// It exited with this status.
    Exited(u8),
    /// This signal killed it.
    Killed(u8),
}

/// Why an operation could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure, which decides the launcher's exit status.
    pub kind: FailureKind,
    /// What could not be done and why, one line.
    pub message: String,
}

/// Kinds of [`Failure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// The program does not exist: status 127.
    NotFound,
    /// The program cannot be executed: status 126.
    NotExecutable,
    /// Anything else: status 125.
    Other,
    /// The folder of [`Exec::cwd`] is not the caller's, [`Exec::cwd_is`]: it may be mounted there and asked again.
    NotShared,
}
