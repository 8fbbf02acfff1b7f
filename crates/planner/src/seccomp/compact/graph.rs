//! Decisions: a graph of questions about a call that ends in verdicts. Equal parts of it are there once.

use crate::seccomp::program::{ARCHITECTURE, Compare, NUMBER};
use std::collections::HashMap;

/// A word of a call, or some of its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Word {
    /// Which one.
    pub(super) at: u32,
    /// The bits.
    pub(super) mask: u32,
}

impl Word {
    pub(super) const NUMBER: Self = Self::whole(NUMBER);
    pub(super) const ARCHITECTURE: Self = Self::whole(ARCHITECTURE);

    /// A word with all its bits.
    pub(super) const fn whole(at: u32) -> Self {
        Self { at, mask: u32::MAX }
    }
}

/// A question about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Question {
    /// What is looked at.
    pub(super) word: Word,
    /// How.
    pub(super) compare: Compare,
    /// What it is compared with.
    pub(super) value: u32,
}

/// A place in a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place(usize);

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Decision {
    /// The end.
    Verdict(u32),
    /// It depends.
    Asked {
        /// On this.
        question: Question,
        /// Where it goes on if that holds.
        yes: Place,
        /// And where if not.
        no: Place,
    },
}

/// The decisions.
#[derive(Debug, Default)]
pub(super) struct Graph {
    decisions: Vec<Decision>,
    places: HashMap<Decision, Place>,
}

impl Graph {
    /// A verdict's place.
    pub(super) fn verdict(&mut self, verdict: u32) -> Place {
        self.place(Decision::Verdict(verdict))
    }

    /// A question's place; where the answer does not matter, that of the answer.
    pub(super) fn question(&mut self, question: Question, yes: Place, no: Place) -> Place {
        if yes == no { yes } else { self.place(Decision::Asked { question, yes, no }) }
    }

    /// What is at a place.
    pub(super) fn decision(&self, place: Place) -> Decision {
        self.decisions[place.0]
    }

    fn place(&mut self, decision: Decision) -> Place {
        let next = Place(self.decisions.len());
        *self.places.entry(decision).or_insert_with(|| {
            self.decisions.push(decision);
            next
        })
    }
}
