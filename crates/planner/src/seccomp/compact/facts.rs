//! What is known of a call from the questions answered so far.

use super::graph::{Question, Word};
use crate::seccomp::program::Compare;

/// Answers, in their order.
#[derive(Debug, Default)]
pub(super) struct Facts(Vec<(Question, bool)>);

impl Question {
    /// Whether a word has a value.
    pub(super) fn is(word: Word, value: u32) -> Self {
        Self { word, compare: Compare::Equal, value }
    }
}

impl Facts {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&mut self, question: Question, answer: bool) {
        self.0.push((question, answer));
    }

    pub(super) fn remove_last(&mut self) {
        self.0.pop();
    }

    /// The answer to a question, if it follows from what is known.
    pub(super) fn answer(&self, question: Question) -> Option<bool> {
        let Question { word, compare, value } = question;
        if let Some((_, answer)) = self.0.iter().find(|(asked, _)| *asked == question) {
            return Some(*answer);
        }
        let (least, most) = self.bounds(word)?;
        if least == most {
            return Some(compare.holds(least, value));
        }
        match compare {
            Compare::Equal => {
                let is_elsewhere = value < least || value > most;
                is_elsewhere.then_some(false)
            }
            Compare::Greater | Compare::AtLeast => {
                let (low, high) = (compare.holds(least, value), compare.holds(most, value));
                (low == high).then_some(low)
            }
            Compare::AnyOf => (value & word.mask == 0).then_some(false),
        }
    }

    /// The least and the most that a word can be. None if it cannot be at all, which real calls do not lead to.
    fn bounds(&self, word: Word) -> Option<(u32, u32)> {
        let (mut least, mut most) = (0, word.mask);
        for (Question { word: other, compare, value }, answer) in &self.0 {
            if other.at != word.at {
                continue;
            }
            match (compare, answer) {
                // The bits of a word of which those and more are known.
                (Compare::Equal, true) if other.mask & word.mask == word.mask => {
                    (least, most) = (value & word.mask, value & word.mask);
                }
                _ if *other != word => {}
                (Compare::AtLeast, true) => least = least.max(*value),
                (Compare::AtLeast, false) => most = most.min(value.checked_sub(1)?),
                (Compare::Greater, true) => least = least.max(value.checked_add(1)?),
                (Compare::Greater, false) => most = most.min(*value),
                _ => {}
            }
        }
        (least <= most).then_some((least, most))
    }
}
