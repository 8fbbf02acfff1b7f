//! A request to stop, noticed at the next step instead of ending the process in the middle of one.

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

const SIGNALS: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
/// A signal interrupts a wait, but for one that comes just before it, or to another thread. In milliseconds.
const LOOK_AGAIN: u8 = 100;

static PENDING: AtomicI32 = AtomicI32::new(0);
static HELD: AtomicUsize = AtomicUsize::new(0);

/// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT are only noted; a signal that was ignored stays so.
pub fn watch() {
    for signal in SIGNALS {
        if crate::inherited::ignored().contains(signal as i32) {
            continue;
        }
        // Without SA_RESTART, so that a wait comes back and sees the note.
        let action = SigAction::new(SigHandler::Handler(note), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
        let _ = unsafe { sigaction(signal, &action) };
    }
}

/// From now on they do again what they did when this process was started; gives the one that asked to stop meanwhile.
#[must_use]
pub fn unwatch() -> Option<i32> {
    for signal in SIGNALS.into_iter().filter(|signal| !crate::inherited::ignored().contains(*signal as i32)) {
        // SAFETY: the default action is no function.
        let _ = unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) };
    }
    Some(PENDING.swap(0, Ordering::Relaxed)).filter(|number| *number != 0)
}

/// The signal that asked to stop, if one did and nothing is [`held`].
#[must_use]
pub fn pending() -> Option<i32> {
    Some(PENDING.load(Ordering::Relaxed)).filter(|number| *number != 0 && !is_held())
}

/// Does something to its end, whatever was or is asked for meanwhile: undoing is no place to stop.
pub fn held<T>(work: impl FnOnce() -> T) -> T {
    HELD.fetch_add(1, Ordering::Relaxed);
    let done = work();
    HELD.fetch_sub(1, Ordering::Relaxed);
    done
}

/// Whether requests to stop wait for the end of something.
#[must_use]
pub fn is_held() -> bool {
    HELD.load(Ordering::Relaxed) > 0
}

/// Waits until a descriptor has something to read, or its end; false when a stop was or is asked for before.
///
/// # Errors
/// What the kernel says.
pub fn wait_readable(descriptor: impl AsFd) -> io::Result<bool> {
    while pending().is_none() {
        let mut watched = [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)];
        match poll(&mut watched, LOOK_AGAIN) {
            Ok(0) | Err(Errno::EINTR) => {}
            other => return Ok(other.map(|_| true)?),
        }
    }
    Ok(false)
}

extern "C" fn note(number: libc::c_int) {
    PENDING.store(number, Ordering::Relaxed);
}
