//! What a program can ask at all.

use super::graph::{Question, Word};
use crate::seccomp::program::{Compare, Instruction, Program};
use std::collections::BTreeSet;

/// The questions of a program, whatever the call. None if it asks about the call's number or the architecture in
/// other ways than where on the line of numbers they are, or about something that it never loaded.
pub(super) fn questions(program: &Program) -> Option<Vec<Question>> {
    let instructions = program.instructions();
    // What the accumulator can be before each instruction. Programs only go forward, so one pass finds all.
    let mut before = vec![BTreeSet::<Option<Word>>::new(); instructions.len()];
    before[0].insert(None);
    let mut questions = Vec::new();
    for (at, instruction) in instructions.iter().enumerate() {
        let here = std::mem::take(&mut before[at]);
        let mut go =
            |distance: usize, words: &BTreeSet<Option<Word>>| before[at + 1 + distance].extend(words);
        match *instruction {
            _ if here.is_empty() => {}
            Instruction::Load(word) => go(0, &BTreeSet::from([Some(Word::whole(word))])),
            Instruction::And(mask) => {
                let masked = |word: &Option<Word>| {
                    word.filter(|word| !is_on_the_line(*word))
                        .map(|Word { at, mask: bits }| Some(Word { at, mask: bits & mask }))
                };
                go(0, &here.iter().map(masked).collect::<Option<_>>()?);
            }
            Instruction::Jump(distance) => go(usize::try_from(distance).ok()?, &here),
            Instruction::Branch { compare, value, yes, no } => {
                for word in &here {
                    let word = (*word)?;
                    if compare == Compare::AnyOf && is_on_the_line(word) {
                        return None;
                    }
                    questions.push(Question { word, compare, value });
                }
                go(yes.into(), &here);
                go(no.into(), &here);
            }
            Instruction::Return(_) => {}
        }
    }
    Some(questions)
}

fn is_on_the_line(word: Word) -> bool {
    word.at == Word::NUMBER.at || word.at == Word::ARCHITECTURE.at
}

/// The starts of the ranges of a word's values within which all questions have the same answers.
pub(super) fn starts(questions: &[Question], word: Word) -> Vec<u32> {
    let asked = questions.iter().filter(|question| question.word == word);
    let bounds = asked.flat_map(|Question { compare, value, .. }| {
        let next = value.checked_add(1);
        match compare {
            Compare::Equal => [Some(*value), next],
            Compare::AtLeast => [Some(*value), None],
            Compare::Greater => [None, next],
            // Of the words that have ranges, none is asked for bits.
            Compare::AnyOf => [None, None],
        }
    });
    let starts: BTreeSet<u32> = bounds.flatten().chain([0]).collect();
    starts.into_iter().collect()
}
