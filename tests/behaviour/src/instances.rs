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

use flake_testkit::{ADA, ROOT, ScratchHost, User, trial};
use libtest_mimic::Trial;

use ground::{Case, Ground};

/// Who registers and calls.
const WAYS: [(&str, &User); 2] = [("rootful", &ROOT), ("rootless", &ADA)];

/// The trials that run side by side, and those that change the host for everybody.
#[must_use]
pub fn trials() -> (Vec<Trial>, Vec<Trial>) {
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
    let mut last = of_ways(&[limits::ALONE, scripts::ALONE].concat());
    last.push(trial("nothing_is_left", |host: &ScratchHost| crate::nothing_is_left(host, &[&ROOT, &ADA])));
    (of_ways(&beside.concat()), last)
}

fn of_ways(cases: &[Case]) -> Vec<Trial> {
    let of_way = |(way, user): (&'static str, &'static User)| {
        cases.iter().map(move |&(name, options, body)| {
            trial(format!("{way}::{name}"), move |host: &ScratchHost| {
                let ground = Ground::new(host, user, name, options)?;
                body(&ground)?;
                ground.end()
            })
        })
    };
    WAYS.into_iter().flat_map(of_way).collect()
}
