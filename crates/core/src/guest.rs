//! An instance that is up, as provisioning and probing see it: it runs scripts, and keeps a small file.
//!
//! Engines implement [`Guest`] over whatever they reach the agent by.

mod lines;
#[cfg(test)]
pub(crate) mod scripted;

pub(crate) use lines::Lines;

use crate::probe::Check;
use flake_schema::ProvisionMode;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// An instance that is up.
pub trait Guest {
    /// Runs a script to its end, with an empty standard input; `heard` hears of it meanwhile.
    ///
    /// # Errors
    /// [`GuestError`]; the script has been killed, unless the instance itself is out of reach.
    fn run(&mut self, script: &Script<'_>, heard: &mut dyn FnMut(Heard<'_>))
    -> Result<ScriptEnd, GuestError>;

    /// The content of a small file inside; none where there is no regular file that can be read, or a larger one.
    ///
    /// # Errors
    /// [`GuestError`].
    fn read(&mut self, path: &str, most: usize) -> Result<Option<Vec<u8>>, GuestError>;

    /// Writes a small file inside, which only the instance's root can read, whole or not at all. The folder above it
    /// is made where it is missing.
    ///
    /// # Errors
    /// [`GuestError`].
    fn write(&mut self, path: &str, content: &[u8]) -> Result<(), GuestError>;

    /// Has the agent check these by itself from now on, in place of what it checked before.
    ///
    /// # Errors
    /// [`GuestError`].
    fn watch(&mut self, checks: &[Check]) -> Result<(), GuestError>;
}

/// A script to run.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// Its text; the first line may name an interpreter.
    pub text: &'a str,
    /// As whom it runs.
    pub mode: ProvisionMode,
    /// Variables on top of those that the mode brings.
    pub env: &'a [(String, String)],
    /// The time it may take, when bounded.
    pub timeout: Option<Duration>,
}

/// What is heard of a script that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard<'a> {
    /// It wrote this, to its standard output or error.
    Output(&'a [u8]),
    /// It still runs; said at least once a second while nothing is written.
    Running,
}

/// How a script ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptEnd {
    /// It exited with this status.
    Exited(u8),
    /// This signal killed it.
    Killed(u8),
    /// It took too long, and was killed.
    TimedOut(Duration),
    /// It could not be run: why.
    NotRun(String),
}

impl ScriptEnd {
    /// Whether all went well.
    #[must_use]
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

impl fmt::Display for ScriptEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(formatter, "exit status {status}"),
            Self::Killed(signal) => write!(formatter, "killed by signal {signal}"),
            Self::TimedOut(limit) => write!(formatter, "not done within {}", shown(*limit)),
            Self::NotRun(why) => formatter.write_str(why),
        }
    }
}

/// The instance could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// It ended meanwhile.
    #[error("the instance went away")]
    Gone,
    /// The agent in it refuses: why.
    #[error("{0}")]
    Refused(String),
    /// The agent in it cannot be talked to: why.
    #[error("cannot talk to the instance: {0}")]
    Unreachable(String),
    /// This process was asked to stop.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
}

impl GuestError {
    /// The signal, where one was the reason.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match self {
            Self::Interrupted(signal) => Some(*signal),
            _ => None,
        }
    }
}

/// The variables that a flake's `param` makes for its scripts.
pub(crate) fn variables(params: &BTreeMap<String, String>) -> Vec<(String, String)> {
    params.iter().map(|(name, value)| (format!("PARAM_{name}"), value.clone())).collect()
}

/// A length of time for a message: whole units where they say it all.
pub(crate) fn shown(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (0, millis) => format!("{millis}ms"),
        (seconds, 0) if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        (seconds, 0) => format!("{seconds}s"),
        (seconds, millis) => format!("{seconds}.{millis:03}s"),
    }
}
