//! What users see of instances that are kept: their names and verbs, what is asked and said, how many there may be.

mod attach;
mod changed;
mod ground;
mod limits;
mod names;
mod probes;
mod question;
mod scripts;
mod sharing;
mod users;
mod verbs;
mod way;

use flake_testkit::{ADA, ROOT, ScratchHost, trial};
use libtest_mimic::Trial;

use ground::{Case, Ground};
pub use way::{LENT, ROOTFUL, ROOTLESS, SYSTEM, Way};

/// The trials of some ways that run side by side, and those that change the host for everybody. Root's flakes of two ways
/// have the same names, so there can be only one such way on a host.
#[must_use]
pub fn trials(ways: &[Way]) -> (Vec<Trial>, Vec<Trial>) {
    let beside = [
        verbs::CASES,
        names::CASES,
        question::CASES,
        changed::CASES,
        limits::CASES,
        sharing::CASES,
        attach::CASES,
        scripts::CASES,
        probes::CASES,
        users::CASES,
    ];
    let mut last = of_ways(ways, &[limits::ALONE, scripts::ALONE].concat());
    last.push(trial("nothing_is_left", |host: &ScratchHost| crate::nothing_is_left(host, &[&ROOT, &ADA])));
    (of_ways(ways, &beside.concat()), last)
}

fn of_ways(ways: &[Way], cases: &[Case]) -> Vec<Trial> {
    let of_way = |way: Way| {
        cases.iter().filter(move |(name, ..)| way.has(name)).map(move |&(name, options, body)| {
            trial(format!("{}::{name}", way.name), move |host: &ScratchHost| {
                let ground = Ground::new(host, way, name, options)?;
                body(&ground)?;
                ground.end()
            })
        })
    };
    ways.iter().copied().flat_map(of_way).collect()
}
