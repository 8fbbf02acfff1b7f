//! The agent's greeting: that it is there, and what it can be watched by.

use crate::start::EngineError;
use flake_core::guest::GuestError;
use flake_link::Link;
use flake_sys::interrupt;
use flake_wire::{Frame, Reply, Request, understands};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How often is looked whether the time is over.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Waits for the greeting on a new connection; gives a pidfd of the agent.
pub(super) fn greeted(socket: OwnedFd, within: Duration) -> Result<OwnedFd, EngineError> {
    let by = Instant::now() + within;
    let unreachable = |error: std::io::Error| GuestError::Unreachable(error.to_string());
    let mut link: Link<Reply, Request> = Link::new(socket).map_err(unreachable)?;
    while Instant::now() < by {
        match link.next_frame().map_err(|error| GuestError::Unreachable(error.to_string()))? {
            Some(Frame::Message(Reply::Hello { version, watch: true, .. })) if understands(version) => {
                return link.take_passed().ok_or(EngineError::Silent);
            }
            Some(Frame::Message(Reply::Hello { agent, .. })) => {
                return Err(EngineError::OtherRelease(agent));
            }
            Some(_) => return Err(EngineError::Silent),
            None if link.ended() => return Err(EngineError::Vanished),
            None => {}
        }
        if let Some(signal) = interrupt::pending() {
            return Err(GuestError::Interrupted(signal).into());
        }
        link.wait(LOOK_AGAIN).map_err(unreachable)?;
        link.fill();
    }
    Err(EngineError::Silent)
}
