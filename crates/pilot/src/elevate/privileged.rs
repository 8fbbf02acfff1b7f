//! Sudo, as the caller's launcher sees it.

use crate::ending::Refusal;
use crate::install;
use flake_sys::reason::reason;
use flake_sys::signals;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, waitid};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;

/// Sudo and what it started.
pub(super) struct Privileged {
    name: String,
    pub(super) child: Child,
    /// Becomes readable at its end.
    pub(super) ended: OwnedFd,
}

impl Privileged {
    pub(super) fn new(name: &str, child: Child) -> io::Result<Self> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let ended = pidfd_open(pid.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty())?;
        Ok(Self { name: name.to_owned(), child, ended })
    }

    /// Asks it to end, and waits for that: it may have the terminal without echo. A sudo that has become root
    /// altogether cannot be asked; then it has no question open any more.
    pub(super) fn end(&mut self, signal: i32) {
        let Ok(pid) = i32::try_from(self.child.id()) else { return };
        if signals::send(pid, signal, false).is_ok() {
            self.go_on();
            let _ = self.child.wait();
        }
    }

    /// Whether sudo is stopped, which only its parent learns.
    pub(super) fn is_stopped(&self) -> bool {
        let how = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::PidFd(self.ended.as_fd()), how), Ok(Some(status)) if status.stopped())
    }

    /// Continues it, where whoever has continued this process has not.
    pub(super) fn go_on(&self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = signals::send(pid, Signal::CONT.as_raw(), false);
        }
    }

    /// Why sudo did not start the second launcher.
    pub(super) fn refused(&mut self) -> Refusal {
        let mut said = Vec::new();
        if let Some(stream) = self.child.stderr.take() {
            let _ = stream.take(64 << 10).read_to_end(&mut said);
        }
        let why = match self.child.wait() {
            Ok(status) => flake_tools::reason(&said, status),
            Err(error) => reason(&error),
        };
        Refusal::Other(format!(
            "runs as root and needs sudo, which refused: {why}; ask your administrator to allow: sudo {} {}",
            install::privileged().unwrap_or_default().display(),
            self.name,
        ))
    }
}
