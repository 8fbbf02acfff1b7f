//! Faults of instances that are kept: what is killed, wiped, removed or full, and who is hostile. The next call works, and
//! nothing is left that nobody uses.

mod agent;
mod crowd;
mod full;
mod ground;
mod hostile;
mod killed;
mod others;
mod restart;
mod stopped;

use flake_testkit::{ADA, ROOT, ScratchHost, User, trial};
use libtest_mimic::Trial;

use ground::{Case, Ground};

/// Who registers, who calls, and in whose store the instance is.
#[derive(Debug, Clone, Copy)]
struct Way {
    name: &'static str,
    owner: &'static User,
    caller: &'static User,
    store: &'static User,
    options: &'static [&'static str],
}

const WAYS: [Way; 4] = [
    Way { name: "rootful", owner: &ROOT, caller: &ROOT, store: &ROOT, options: &[] },
    Way { name: "rootless", owner: &ADA, caller: &ADA, store: &ADA, options: &[] },
    Way { name: "system", owner: &ROOT, caller: &ADA, store: &ADA, options: &[] },
    Way {
        name: "elevated",
        owner: &ROOT,
        caller: &ADA,
        store: &ROOT,
        options: &["--run-as", "root", "--network", "host"],
    },
];

/// All of them, one at a time: what is on the host is counted.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let cases = [
        killed::CASES,
        restart::CASES,
        stopped::CASES,
        crowd::CASES,
        full::CASES,
        hostile::CASES,
        agent::CASES,
        others::CASES,
    ]
    .concat();
    let of_way = |way: Way| {
        cases.clone().into_iter().map(move |(name, body): Case| {
            trial(format!("{}::{name}", way.name), move |host| {
                let done = body(&Ground { host, way, case: name });
                // A failure is one case's own.
                if done.is_err() {
                    host.podman(way.store, ["rm", "--all", "--force", "--time", "0"]).run()?;
                }
                done
            })
        })
    };
    let mut trials: Vec<_> = WAYS.into_iter().flat_map(of_way).collect();
    trials.push(trial("nothing_is_left", |host: &ScratchHost| crate::nothing_is_left(host, &[&ROOT, &ADA])));
    trials
}
