//! A request to stop, noticed at the next step instead of ending the process in the middle of one.

use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::sync::atomic::{AtomicI32, Ordering};

static PENDING: AtomicI32 = AtomicI32::new(0);

/// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT are only noted; a signal that was ignored stays so.
pub fn watch() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        if crate::inherited::ignored().contains(signal as i32) {
            continue;
        }
        // Without SA_RESTART, so that a wait comes back and sees the note.
        let action = SigAction::new(SigHandler::Handler(note), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
        let _ = unsafe { sigaction(signal, &action) };
    }
}

/// The signal that asked to stop, if one did.
#[must_use]
pub fn pending() -> Option<i32> {
    Some(PENDING.load(Ordering::Relaxed)).filter(|number| *number != 0)
}

extern "C" fn note(number: libc::c_int) {
    PENDING.store(number, Ordering::Relaxed);
}
