//! Stop signals that come before the command is executed. The process that becomes it must not stop then: the launcher
//! waits for it, and could neither stop with it nor go on. It notes the signal, which the launcher sends once more.

use flake_sys::signals::SignalSet;
use nix::libc;
use std::sync::atomic::{AtomicI32, Ordering};

const SIGNALS: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// In memory that both processes share until the command is executed.
static NOTED: AtomicI32 = AtomicI32::new(0);

/// Notes stop signals from now on, but for those that the command ignores. To execute a program ends it.
pub(crate) fn note(ignored: SignalSet) {
    let handler = handle as extern "C" fn(i32) as usize;
    for number in SIGNALS.into_iter().filter(|number| !ignored.contains(*number)) {
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
        unsafe { libc::signal(number, handler) };
    }
}

/// What was noted last.
pub(crate) fn noted() -> Option<i32> {
    Some(NOTED.swap(0, Ordering::Relaxed)).filter(|number| *number != 0)
}

extern "C" fn handle(number: i32) {
    NOTED.store(number, Ordering::Relaxed);
}
