//! A graph of decisions as a program. It is written from its end, so that what an instruction goes on to is there
//! already.

use super::graph::{Decision, Graph, Place, Word};
use crate::seccomp::program::{Instruction, Program};
use std::collections::HashMap;

/// The program that decides as a place of a graph does. None if it is longer than the kernel takes.
pub(super) fn assemble(graph: &Graph, start: Place) -> Option<Program> {
    let mut assembler = Assembler { graph, written: Vec::new(), entries: HashMap::new() };
    assembler.write(start, None)?;
    assembler.written.reverse();
    Program::new(assembler.written)
}

/// A way into what was written for a place: with nothing in the accumulator, or with what it asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Entry {
    place: Place,
    is_loaded: bool,
}

#[derive(Debug)]
struct Assembler<'a> {
    graph: &'a Graph,
    /// The instructions, the last one of the program first.
    written: Vec<Instruction>,
    /// Which of them each entry is; where there are several, the nearest.
    entries: HashMap<Entry, usize>,
}

impl Assembler<'_> {
    /// Sees that a place is written somewhere, for those who come with a word in the accumulator.
    fn write(&mut self, place: Place, accumulator: Option<Word>) -> Option<Entry> {
        let entry = self.entry(place, accumulator);
        if self.entries.contains_key(&entry) {
            return Some(entry);
        }
        match self.graph.decision(place) {
            Decision::Verdict(verdict) => self.push(Instruction::Return(verdict)),
            Decision::Asked { question, .. } if !entry.is_loaded => {
                let branch = self.write(place, Some(question.word))?;
                if self.distance(branch)? > 0 {
                    self.jump(branch)?;
                }
                if question.word.mask != u32::MAX {
                    self.push(Instruction::And(question.word.mask));
                }
                self.push(Instruction::Load(question.word.at));
            }
            Decision::Asked { question, yes, no } => {
                let yes = self.write(yes, Some(question.word))?;
                let no = self.write(no, Some(question.word))?;
                let (yes, no) = self.bring_near(yes, no)?;
                self.push(Instruction::Branch { compare: question.compare, value: question.value, yes, no });
            }
        }
        self.entries.insert(entry, self.written.len() - 1);
        Some(entry)
    }

    fn entry(&self, place: Place, accumulator: Option<Word>) -> Entry {
        let is_loaded = match self.graph.decision(place) {
            Decision::Verdict(_) => false,
            Decision::Asked { question, .. } => accumulator == Some(question.word),
        };
        Entry { place, is_loaded }
    }

    /// The distances to two entries; those that a branch cannot reach get a stop on the way.
    fn bring_near(&mut self, yes: Entry, no: Entry) -> Option<(u8, u8)> {
        loop {
            let distances = (self.distance(yes)?, self.distance(no)?);
            match (u8::try_from(distances.0), u8::try_from(distances.1)) {
                (Ok(yes), Ok(no)) => return Some((yes, no)),
                (Err(_), _) => self.stop(yes)?,
                (_, Err(_)) => self.stop(no)?,
            }
        }
    }

    fn stop(&mut self, entry: Entry) -> Option<()> {
        match self.graph.decision(entry.place) {
            Decision::Verdict(verdict) => self.push(Instruction::Return(verdict)),
            Decision::Asked { .. } => self.jump(entry)?,
        }
        self.entries.insert(entry, self.written.len() - 1);
        Some(())
    }

    fn jump(&mut self, entry: Entry) -> Option<()> {
        let distance = u32::try_from(self.distance(entry)?).ok()?;
        self.push(Instruction::Jump(distance));
        Some(())
    }

    /// How many instructions are between the one to be written next and an entry.
    fn distance(&self, entry: Entry) -> Option<usize> {
        Some(self.written.len() - 1 - self.entries.get(&entry)?)
    }

    fn push(&mut self, instruction: Instruction) {
        self.written.push(instruction);
    }
}
