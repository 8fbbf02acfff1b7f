//! Bounds: what a peer may make the other side hold.

/// The longest frame of the launcher's side, in bytes after the length: an exec frame with the longest
/// argument list and environment that Linux takes with its default stack limit (2 MiB) fits several times.
pub const REQUEST_MAX: usize = 8 << 20;

/// The longest frame of the agent's side, which is not trusted.
pub const REPLY_MAX: usize = 128 << 10;

/// The most payload bytes in one data frame.
pub const DATA_MAX: usize = 64 << 10;

/// The most bytes of one framed stream that may be under way without credit.
pub const WINDOW: u32 = 256 << 10;

/// The most file descriptors passed with one frame; Linux itself takes 253.
pub const FDS_MAX: usize = 64;

/// The most words, and the most variables, of one command: more than Linux takes with any stack limit.
pub const WORDS_MAX: usize = 1 << 20;

/// The longest text of a note, in bytes.
pub const NOTE_MAX: usize = 1 << 10;

/// The most that is watched at once.
pub const WATCHED_MAX: usize = 64;
