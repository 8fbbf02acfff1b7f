//! Launches straight from the layers whose plan, image, store or host is not what it was: they work, planned anew
//! once, or end with one clear error. And many at once, and some that are killed: nothing is left of them.

mod crowd;
mod damage;
mod disk;
mod first;
mod folder;
mod full;
mod ground;
mod host;
mod image;
mod killed;
mod namespaces;
mod planning;
mod registration;
pub(crate) mod remains;
mod store;

use flake_testkit::{ADA, ROOT, ScratchHost, User, trial};
use libtest_mimic::Trial;

use ground::{Case, Ground};

/// Who registers, and who calls.
#[derive(Debug, Clone, Copy)]
struct Way {
    name: &'static str,
    owner: &'static User,
    caller: &'static User,
}

const WAYS: [Way; 3] = [
    Way { name: "rootful", owner: &ROOT, caller: &ROOT },
    Way { name: "rootless", owner: &ADA, caller: &ADA },
    Way { name: "system", owner: &ROOT, caller: &ADA },
];

/// The trials that run side by side, and those that change the host for everybody or count what is on it.
#[must_use]
pub fn trials() -> (Vec<Trial>, Vec<Trial>) {
    let beside = [
        damage::CASES,
        folder::CASES,
        image::CASES,
        store::CASES,
        registration::CASES,
        namespaces::CASES,
        planning::CASES,
    ];
    let alone = [
        host::ALONE,
        folder::ALONE,
        full::ALONE,
        namespaces::ALONE,
        first::ALONE,
        crowd::ALONE,
        killed::ALONE,
        disk::ALONE,
    ];
    let mut last = of_ways(&alone.concat());
    last.push(trial("nothing_is_left", |host: &ScratchHost| crate::nothing_is_left(host, &[&ROOT, &ADA])));
    (of_ways(&beside.concat()), last)
}

fn of_ways(cases: &[Case]) -> Vec<Trial> {
    let of_way = |way: Way| {
        cases.iter().map(move |&(name, body)| {
            trial(format!("{}::{name}", way.name), move |host| body(&Ground { host, way, case: name }))
        })
    };
    WAYS.into_iter().flat_map(of_way).collect()
}
