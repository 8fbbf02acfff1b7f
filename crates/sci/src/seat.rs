//! A place at the shared terminal.

use crate::command;
use flake_wire::{Exec, Failure, Source, Window};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::os::fd::OwnedFd;

/// What a member needs of the agent, and hears of at once when it cannot be.
#[derive(Debug)]
pub(crate) struct Seat {
    /// The agent's end of what is typed and shown.
    pub(crate) ours: OwnedFd,
    /// The launcher's.
    pub(crate) theirs: OwnedFd,
    pub(crate) window: Window,
}

impl Seat {
    /// Checks what a launcher asks for: an attached application has its terminal only.
    pub(crate) fn new(exec: &Exec) -> Result<Self, Failure> {
        let Some(window) = exec.terminal else {
            return Err(command::refused("an attached application takes a terminal"));
        };
        if exec.streams.iter().any(|stream| stream.source != Source::Terminal) {
            let message = "an attached application has its terminal only: no redirected input or output";
            return Err(command::refused(message));
        }
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|error| command::other(&error.into()))?;
        Ok(Self { ours, theirs, window })
    }
}
