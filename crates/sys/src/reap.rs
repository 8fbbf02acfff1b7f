//! Changes of state of child processes.

use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};

/// What became of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It exited with a status.
    Exited(i32),
    /// A signal killed it.
    Killed(i32),
    /// A signal stopped it.
    Stopped(i32),
}

/// The next child whose state changed, adopted ones too, without waiting; none when there is none.
#[must_use]
pub fn next_change() -> Option<(i32, Change)> {
    loop {
        match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            Ok(Some((pid, status))) => {
                let change = status
                    .exit_status()
                    .map(Change::Exited)
                    .or_else(|| status.terminating_signal().map(Change::Killed))
                    .or_else(|| status.stopping_signal().map(Change::Stopped));
                if let Some(change) = change {
                    return Some((pid.as_raw_nonzero().get(), change));
                }
            }
            Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}
