//! What every engine does: bring up an isolated root with the agent in it, connected.

use flake_core::launch::Launch;
use flake_tools::{ToolError, reason};
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpid};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// An engine.
pub trait Engine {
    /// Starts an environment for one launch, with the agent in it at the other end of the socket. It goes
    /// when the socket is closed.
    ///
    /// # Errors
    /// [`EngineError`]; nothing is left behind.
    fn start(&self, launch: &Launch) -> Result<Started, EngineError>;

    /// What a failed start means, and what to do about it.
    fn explain(&self, launch: &Launch, status: ExitStatus, said: &[u8]) -> EngineError;
}

/// An environment on its way up.
#[derive(Debug)]
pub struct Started {
    /// The connection to the agent, which may not run yet.
    pub socket: OwnedFd,
    /// The program that brings it up.
    pub starter: Starter,
}

/// Why an environment is not there.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The image is not in the store.
    #[error("image {image} is not in the store; try: {remedy}")]
    ImageMissing {
        /// The image.
        image: String,
        /// A command that brings it.
        remedy: String,
    },
    /// The user has no range of subordinate ids.
    #[error(
        "{user} has no subordinate ids, which containers without root need; add the line \
         {user}:100000:65536 to /etc/subuid and /etc/subgid, or try: \
         usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}"
    )]
    NoSubordinateIds {
        /// The user.
        user: String,
    },
    /// An option of the flake cannot be used.
    #[error("option {option} cannot be used: {why}")]
    Option {
        /// The option.
        option: String,
        /// Why.
        why: &'static str,
    },
    /// The agent's program is not where it was installed.
    #[error("the agent {0} is missing; install flake-pilot again")]
    NoAgent(String),
    /// The engine's program failed.
    #[error("{said}")]
    Failed {
        /// What the program said.
        said: String,
    },
    /// An external program failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

/// For `map_err`: names what was tried.
pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> EngineError {
    move |source| EngineError::System { what, source: source.into() }
}

/// A running program that brings an environment up, and is done when it is.
#[derive(Debug)]
pub struct Starter {
    pid: Pid,
    pidfd: OwnedFd,
    said: File,
}

impl Starter {
    /// Watches a child of this process; `said` is the other end of its standard error.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn watch(pid: i32, said: OwnedFd) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { pid, pidfd, said: said.into() })
    }

    /// How the program ended; waits for that.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn status(&self) -> io::Result<ExitStatus> {
        loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Ok(Some((_, status))) => return Ok(ExitStatus::from_raw(status.as_raw())),
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The end of what the program said, once it has ended.
    pub fn said(&mut self) -> Vec<u8> {
        let mut said = Vec::new();
        // A process that the program left behind may hold the pipe: only what is there.
        let _ = rustix::io::ioctl_fionbio(&self.said, true);
        let _ = (&mut self.said).take(64 << 10).read_to_end(&mut said);
        said
    }
}

impl AsFd for Starter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// The error for a program that said something nobody here knows better words for.
pub(crate) fn failed(program: &str, status: ExitStatus, said: &[u8]) -> EngineError {
    EngineError::Failed { said: format!("{program} failed: {}", reason(said, status)) }
}
