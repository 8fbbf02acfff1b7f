//! Finding the range that a value is in.

use super::graph::{Graph, Place, Question, Word};
use crate::seccomp::program::Compare;

/// Single values that are asked for one after the other. Each takes one instruction, where a range would take two, but
/// makes the way to all others longer.
const SINGLES: usize = 4;

/// A range of values up to the next one, with single values in it that something else is decided about.
#[derive(Debug)]
struct Group {
    start: u32,
    place: Place,
    singles: Vec<(u32, Place)>,
}

impl Group {
    fn weight(&self) -> usize {
        1 + self.singles.len()
    }
}

/// The place that finds a word's range among these and goes on where that one says. The ranges are given by their
/// starts, in order, from 0.
pub(super) fn search(graph: &mut Graph, word: Word, ranges: &[(u32, Place)]) -> Option<Place> {
    let mut merged: Vec<(u32, Place)> = Vec::new();
    for range in ranges {
        if merged.last().is_none_or(|last| last.1 != range.1) {
            merged.push(*range);
        }
    }
    find(graph, word, &groups(&merged))
}

fn groups(ranges: &[(u32, Place)]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut at = 0;
    while let Some((start, place)) = ranges.get(at).copied() {
        match (groups.last_mut(), ranges.get(at + 1)) {
            (Some(group), Some((next, after)))
                if *next == start + 1 && *after == group.place && group.singles.len() < SINGLES =>
            {
                group.singles.push((start, place));
                at += 2;
            }
            _ => {
                groups.push(Group { start, place, singles: Vec::new() });
                at += 1;
            }
        }
    }
    groups
}

fn find(graph: &mut Graph, word: Word, groups: &[Group]) -> Option<Place> {
    if let [group] = groups {
        // The highest comes to be asked for first: among architectures those with 64 bits.
        let place = group.singles.iter().fold(group.place, |rest, (value, place)| {
            graph.question(Question::is(word, *value), *place, rest)
        });
        return Some(place);
    }
    let total: usize = groups.iter().map(Group::weight).sum();
    let mut below = 0;
    let middle = groups.iter().position(|group| {
        below += group.weight();
        below * 2 >= total
    })?;
    let (low, high) = groups.split_at((middle + 1).min(groups.len() - 1));
    let question = Question { word, compare: Compare::AtLeast, value: high.first()?.start };
    let (yes, no) = (find(graph, word, high)?, find(graph, word, low)?);
    Some(graph.question(question, yes, no))
}
