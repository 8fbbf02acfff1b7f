//! The end of the agent, and with it of the container.

use crate::watch::Verdict;
use rustix::net::{Shutdown, SocketFlags, accept_with, shutdown};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Commands that are asked to end have so long before they are killed.
const GRACE: Duration = Duration::from_secs(5);
/// And their launchers so long to hear of it.
const HEARING: Duration = Duration::from_secs(1);

/// An end that has begun: no new connection, and the last command's end is the agent's.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Absent when the container is stopped from outside.
    verdict: Option<Verdict>,
    /// Whoever stops the container from outside has a limit of their own.
    killing: Option<Instant>,
    is_killing: bool,
}

/// What it is time for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Wait,
    Kill,
    Leave,
}

impl Ending {
    /// Somebody stops the container.
    pub(crate) fn from_outside() -> Self {
        Self { verdict: None, killing: None, is_killing: false }
    }

    /// The instance is not well.
    pub(crate) fn by(verdict: Verdict, now: Instant) -> Self {
        Self { verdict: Some(verdict), killing: Some(now + GRACE), is_killing: false }
    }

    /// When it has to be looked at.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.killing.map(|killing| if self.is_killing { killing + HEARING } else { killing })
    }

    /// What is to be done now.
    pub(crate) fn next(&mut self, now: Instant) -> Next {
        match self.due() {
            Some(due) if due <= now => {
                if std::mem::replace(&mut self.is_killing, true) {
                    Next::Leave
                } else {
                    Next::Kill
                }
            }
            _ => Next::Wait,
        }
    }

    /// How the agent ends.
    pub(crate) fn verdict(self) -> Option<Verdict> {
        self.verdict
    }
}

/// Lets nobody connect any more. Podman's monitor holds the socket too: closing it here would leave launchers waiting
/// for an answer.
pub(crate) fn close(listener: OwnedFd) {
    let _ = shutdown(&listener, Shutdown::Both);
    while accept_with(&listener, SocketFlags::CLOEXEC).is_ok() {}
}
