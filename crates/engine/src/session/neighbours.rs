//! The other processes of the caller's process group: a pipeline, a script. A key that makes a signal
//! reaches them natively; with the terminal in raw mode this process has to pass it on.

use flake_sys::signals::Received;
use rustix::process::{Signal, kill_current_process_group};

/// Signals sent to the own group, which come back here too.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    on_their_way: Vec<i32>,
}

impl Neighbours {
    /// Sends a signal to everybody in the group.
    pub(super) fn signal(&mut self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number) else { return };
        if kill_current_process_group(signal).is_ok() && !self.on_their_way.contains(&number) {
            self.on_their_way.push(number);
        }
    }

    /// Whether a received signal is one that was sent from here.
    pub(super) fn sent(&mut self, received: Received) -> bool {
        let found = self.on_their_way.iter().position(|number| *number == received.number);
        if let Some(index) = found.filter(|_| !received.by_kernel) {
            self.on_their_way.remove(index);
            return true;
        }
        false
    }

    /// A stop of this process took this one with it.
    pub(super) fn consumed(&mut self, number: i32) {
        self.on_their_way.retain(|sent| *sent != number);
    }
}
