//! Whether a program decides as the filters do that it stands for, found out by running both.

use super::graph::{Question, Word};
use super::questions::questions;
use crate::seccomp::interpret::{Call, Seen, verdict};
use crate::seccomp::program::{ARCHITECTURE, NUMBER, Program, WORDS};
use std::collections::BTreeSet;

/// Numbers that are all tried: more calls than any architecture has, and those of x32, from their own first number.
const NUMBERS: u32 = 1024;
const X32: u32 = 0x4000_0000;
/// Numbers beyond the calls.
const EDGES: [u32; 6] = [X32 - 1, X32 + NUMBERS, 0x7FFF_FFFF, 0x8000_0000, u32::MAX - 1, u32::MAX];
/// The words that are not the call itself: the instruction pointer and the arguments.
const VARIED: Seen = Seen::MAX ^ (1 << NUMBER | 1 << ARCHITECTURE);
/// Combinations of arguments that are tried for one call. Where there are more, as many are picked.
const COMBINATIONS: usize = 1 << 12;
/// Calls that are tried before this is given up: tens of times those for podman's profile.
const PATIENCE: usize = 1 << 20;

/// Whether they agree on every call of the architectures that they ask about, and of others, with arguments at and
/// beside each value that they compare with. None if what they ask about cannot be told, or takes too long to try.
pub(super) fn are_same(filters: &[Program], program: &Program) -> Option<bool> {
    let programs = filters.iter().chain([program]);
    let asked: Vec<_> = programs.map(questions).collect::<Option<Vec<_>>>()?.concat();
    let numbers: BTreeSet<u32> =
        (0..NUMBERS).chain(X32..X32 + NUMBERS).chain(EDGES).chain(values(&asked, NUMBER)).collect();
    let words = std::array::from_fn(|at| u32::try_from(at).map(|at| values(&asked, at)).unwrap_or_default());
    let mut trial = Trial { filters, program, words, patience: PATIENCE };
    for architecture in values(&asked, ARCHITECTURE) {
        for number in &numbers {
            if !trial.is_same(architecture, *number)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// Values of a word that may make a difference.
fn values(asked: &[Question], at: u32) -> Vec<u32> {
    let mut values = BTreeSet::from([0, 1, u32::MAX]);
    for Question { word: Word { mask, .. }, value, .. } in
        asked.iter().filter(|question| question.word.at == at)
    {
        values.extend([*value, value.wrapping_sub(1), value.wrapping_add(1)]);
        if *mask != u32::MAX {
            values.extend([*mask, !mask, value | !mask]);
            values.extend((0..u32::BITS).map(|bit| 1 << bit).filter(|bit| bit & mask != 0));
        }
    }
    values.into_iter().collect()
}

#[derive(Debug)]
struct Trial<'a> {
    filters: &'a [Program],
    program: &'a Program,
    /// The values to be tried of each word.
    words: [Vec<u32>; WORDS],
    patience: usize,
}

impl Trial<'_> {
    /// Whether the verdicts on a call are the same, whatever its arguments.
    fn is_same(&mut self, architecture: u32, number: u32) -> Option<bool> {
        let mut call: Call = [0; WORDS];
        (call[ARCHITECTURE as usize], call[NUMBER as usize]) = (architecture, number);
        // Words become known as the programs look at them; those that no program looks at make no difference.
        let mut words = 0;
        loop {
            let combinations = Combinations::of(&self.words, words);
            self.patience = self.patience.checked_sub(combinations.count)?;
            let Some(seen) = self.run(call, combinations) else { return Some(false) };
            let seen = words | seen & VARIED;
            if seen == words {
                return Some(true);
            }
            words = seen;
        }
    }

    /// What is looked at with these combinations; none if the verdicts differ.
    fn run(&self, mut call: Call, mut combinations: Combinations) -> Option<Seen> {
        let mut seen = 0;
        for number in 0..combinations.count {
            combinations.apply(number, &mut call);
            let (before, seen_before) = verdict(self.filters, &call);
            let (after, seen_after) = verdict([self.program], &call);
            if before != after {
                return None;
            }
            seen |= seen_before | seen_after;
        }
        Some(seen)
    }
}

/// Values for some words of a call, each with each, or picked among those.
#[derive(Debug)]
struct Combinations<'a> {
    words: Vec<(usize, &'a [u32])>,
    count: usize,
    /// Where there are too many to take them all: what the next pick comes from.
    picks: Option<u64>,
}

impl<'a> Combinations<'a> {
    fn of(values: &'a [Vec<u32>], words: Seen) -> Self {
        let words: Vec<_> = (0..values.len())
            .filter(|at| words & 1 << at != 0)
            .map(|at| (at, values[at].as_slice()))
            .collect();
        let all = words.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()));
        match all {
            Some(count) if count <= COMBINATIONS => Self { words, count, picks: None },
            _ => Self { words, count: COMBINATIONS, picks: Some(1) },
        }
    }

    fn apply(&mut self, number: usize, call: &mut Call) {
        let mut rest = number;
        for (at, values) in &self.words {
            let pick = self.picks.as_mut().map_or(rest, picked);
            call[*at] = values[pick % values.len()];
            rest /= values.len();
        }
    }
}

/// The next of a row of numbers without a pattern, always the same row (a linear congruential generator with
/// Knuth's constants, of which the upper bits are good).
fn picked(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::from((*state >> 48) as u16)
}
