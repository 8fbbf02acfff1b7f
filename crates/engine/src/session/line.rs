//! The way to the agent's terminal: its master, or, where several launchers share one terminal, a socket of this
//! launcher's own with the master beside it for the settings.

use super::error::SessionError;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::termios::isatty;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Both ways of it.
#[derive(Debug)]
pub(super) struct Line {
    master: OwnedFd,
    /// What is typed and shown, where the terminal is shared.
    data: Option<OwnedFd>,
}

impl Line {
    /// Of what the agent sent: the master alone, or the socket and then the master.
    ///
    /// # Errors
    /// The agent's word is not trusted: anything else could block this process.
    pub(super) fn new(first: OwnedFd, second: Option<OwnedFd>) -> Result<Self, SessionError> {
        let (master, data) = match second {
            Some(master) => (master, Some(first)),
            None => (first, None),
        };
        let is_socket = |data: &OwnedFd| {
            fstat(data).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket)
        };
        if !isatty(&master) || !data.as_ref().is_none_or(is_socket) {
            return Err(SessionError::Terminal(io::Error::other("the agent sent something else")));
        }
        let line = Self { master, data };
        rustix::io::ioctl_fionbio(&line, true).map_err(|error| SessionError::Terminal(error.into()))?;
        Ok(line)
    }

    /// For the settings.
    pub(super) fn master(&self) -> &OwnedFd {
        &self.master
    }

    /// Whether other launchers have the terminal too.
    pub(super) fn is_shared(&self) -> bool {
        self.data.is_some()
    }

    /// Takes what is shown.
    pub(super) fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        match &self.data {
            Some(data) => recv(data, buffer, RecvFlags::DONTWAIT).map(|(length, _)| length),
            None => rustix::io::read(&self.master, buffer),
        }
    }

    /// Sends what was typed.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        match &self.data {
            Some(data) => send(data, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
            None => rustix::io::write(&self.master, bytes),
        }
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.data.as_ref().unwrap_or(&self.master).as_fd()
    }
}
