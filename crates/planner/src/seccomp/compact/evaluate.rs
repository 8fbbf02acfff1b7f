//! Programs for one call of one architecture: what is left to ask when both are known.

use super::facts::Facts;
use super::graph::{Graph, Place, Question, Word};
use crate::seccomp::interpret::{ALLOW, stricter};
use crate::seccomp::program::{Instruction, Program};

/// Instructions that are looked at before this is given up: tens of times those of podman's profile.
const PATIENCE: u32 = 1 << 21;
/// Questions about one call's arguments on one way to a verdict, with the two about the call itself.
const DEPTH: usize = 512;

/// An evaluation of filters.
#[derive(Debug)]
pub(super) struct Evaluator<'a> {
    /// The filters, in the order of their installation.
    programs: &'a [Program],
    patience: u32,
}

/// Where in the filters an evaluation is.
#[derive(Debug, Clone, Copy)]
struct Position {
    program: usize,
    at: usize,
    accumulator: Option<Word>,
    /// What the programs before this one say.
    verdict: u32,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(programs: &'a [Program]) -> Self {
        Self { programs, patience: PATIENCE }
    }

    /// What is decided about a call; the number and the architecture stand for their ranges. None if it takes too
    /// long.
    pub(super) fn decide(&mut self, graph: &mut Graph, architecture: u32, number: u32) -> Option<Place> {
        let mut facts = Facts::default();
        facts.add(Question::is(Word::ARCHITECTURE, architecture), true);
        facts.add(Question::is(Word::NUMBER, number), true);
        let start = Position { program: 0, at: 0, accumulator: None, verdict: ALLOW };
        self.go(graph, start, &mut facts)
    }

    fn go(&mut self, graph: &mut Graph, mut here: Position, facts: &mut Facts) -> Option<Place> {
        let programs = self.programs;
        while let Some(program) = programs.get(here.program) {
            self.patience = self.patience.checked_sub(1)?;
            let distance = match program.instructions()[here.at] {
                Instruction::Load(word) => {
                    here.accumulator = Some(Word::whole(word));
                    0
                }
                Instruction::And(bits) => {
                    let Word { at, mask } = here.accumulator?;
                    here.accumulator = Some(Word { at, mask: mask & bits });
                    0
                }
                Instruction::Jump(distance) => usize::try_from(distance).ok()?,
                Instruction::Branch { compare, value, yes, no } => {
                    let question = Question { word: here.accumulator?, compare, value };
                    let Some(answer) = facts.answer(question) else {
                        if facts.len() >= DEPTH {
                            return None;
                        }
                        self.patience = self.patience.checked_sub(u32::try_from(facts.len()).ok()?)?;
                        let mut after = |answer, distance: u8| {
                            facts.add(question, answer);
                            let next = Position { at: here.at + 1 + usize::from(distance), ..here };
                            let place = self.go(graph, next, facts);
                            facts.remove_last();
                            place
                        };
                        let (yes, no) = (after(true, yes)?, after(false, no)?);
                        return Some(graph.question(question, yes, no));
                    };
                    usize::from(if answer { yes } else { no })
                }
                Instruction::Return(verdict) => {
                    let verdict = stricter(here.verdict, verdict);
                    here = Position { program: here.program + 1, at: 0, accumulator: None, verdict };
                    continue;
                }
            };
            here.at += 1 + distance;
        }
        Some(graph.verdict(here.verdict))
    }
}
