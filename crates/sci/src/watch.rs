//! What is watched, and what came of it.

use crate::probe::Probe;
use flake_sys::reap::Change;
use flake_wire::{Action, ENDED_TO_BE_REMOVED, ENDED_TO_RESTART, Liveness};
use std::os::fd::OwnedFd;
use std::time::Instant;

/// All watched scripts.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    probes: Vec<Probe>,
    /// For the next connection, with the number of the script.
    notes: Vec<(usize, String)>,
}

/// The instance is to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The agent's exit status.
    pub(crate) status: u8,
    /// Why, one line.
    pub(crate) reason: String,
}

impl Watch {
    /// Watches these from now on, and no others.
    pub(crate) fn replace(&mut self, list: Vec<Liveness>, now: Instant) {
        self.notes.clear();
        self.probes = list.into_iter().map(|liveness| Probe::new(liveness, now)).collect();
    }

    /// When something has to be done.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.probes.iter().filter_map(Probe::due).min()
    }

    /// What the scripts write, with their numbers.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = (usize, &OwnedFd)> {
        self.probes.iter().enumerate().filter_map(|(index, probe)| Some((index, probe.output()?)))
    }

    /// Takes what one writes.
    pub(crate) fn read(&mut self, index: usize) {
        if let Some(probe) = self.probes.get_mut(index) {
            probe.read();
        }
    }

    /// Starts and kills what it is time for.
    pub(crate) fn advance(&mut self, now: Instant) -> Option<Verdict> {
        self.each(|probe| probe.advance(now))
    }

    /// A child of the agent's changed.
    pub(crate) fn child_changed(&mut self, pid: i32, change: Change, now: Instant) -> Option<Verdict> {
        self.each(|probe| probe.child_changed(pid, change, now))
    }

    /// What the next connection is to be told: what is still wrong.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        let is_wrong = |index: usize| self.probes.get(index).is_some_and(|probe| !probe.is_well);
        let notes = std::mem::take(&mut self.notes).into_iter();
        notes.filter(|(index, _)| is_wrong(*index)).map(|(_, text)| text).collect()
    }

    fn each(&mut self, mut act: impl FnMut(&mut Probe) -> Option<String>) -> Option<Verdict> {
        let mut verdict = None;
        for (index, probe) in self.probes.iter_mut().enumerate() {
            let Some(reason) = act(probe) else { continue };
            let status = match probe.liveness.action {
                Action::Restart => ENDED_TO_RESTART,
                Action::Remove => ENDED_TO_BE_REMOVED,
                Action::Report => {
                    self.notes.retain(|(other, _)| *other != index);
                    self.notes.push((index, reason));
                    continue;
                }
            };
            verdict.get_or_insert(Verdict { status, reason });
        }
        verdict
    }
}
