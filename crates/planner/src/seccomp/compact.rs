//! Several filters as one short program that decides the same.
//!
//! Installing a filter is a good part of a launch's time, and grows with its instructions: the kernel checks them,
//! translates them, and tries the filter for each call there is. What libseccomp makes has an instruction and more
//! for each call that a profile names. But neighbouring numbers mostly have the same verdict. So the filters are
//! evaluated beforehand for each range of numbers and each architecture, and what comes out is written as a search
//! for the range. Only where a verdict depends on arguments are there questions left.

mod assemble;
mod evaluate;
mod facts;
mod graph;
mod questions;
mod search;
mod verify;

use super::program::Program;
use evaluate::Evaluator;
use flake_plan::Seccomp;
use graph::{Graph, Word};
use questions::{questions, starts};

/// One filter in the place of several, where that is possible, shorter, and the same for all that can be tried.
/// It has the flags of the first one.
pub(super) fn compact(filters: Vec<Seccomp>) -> Vec<Seccomp> {
    match merged(&filters) {
        Some(filter) => vec![filter],
        None => filters,
    }
}

fn merged(filters: &[Seccomp]) -> Option<Seccomp> {
    let programs: Vec<_> =
        filters.iter().map(|filter| Program::decode(&filter.program)).collect::<Option<_>>()?;
    let program = merge(&programs)?.encode();
    let is_shorter = program.len() < filters.iter().map(|filter| filter.program.len()).sum();
    // What is compared is what the kernel will see.
    let is_same = is_shorter && verify::are_same(&programs, &Program::decode(&program)?)?;
    is_same.then_some(Seccomp { program, flags: filters.first()?.flags })
}

/// One program for several.
fn merge(programs: &[Program]) -> Option<Program> {
    let asked: Vec<_> = programs.iter().map(questions).collect::<Option<Vec<_>>>()?.concat();
    let (architectures, numbers) = (starts(&asked, Word::ARCHITECTURE), starts(&asked, Word::NUMBER));
    let mut graph = Graph::default();
    let mut evaluator = Evaluator::new(programs);
    let mut ranges = Vec::new();
    for architecture in architectures {
        let mut decided = Vec::new();
        for number in &numbers {
            decided.push((*number, evaluator.decide(&mut graph, architecture, *number)?));
        }
        ranges.push((architecture, search::search(&mut graph, Word::NUMBER, &decided)?));
    }
    let start = search::search(&mut graph, Word::ARCHITECTURE, &ranges)?;
    assemble::assemble(&graph, start)
}

#[cfg(test)]
mod tests;
