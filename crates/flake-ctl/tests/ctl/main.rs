//! `flake-ctl` on a host: what it writes, what it says word for word, and what it leaves when it is stopped.

mod copies;
mod faults;
mod files;
mod force;
mod going;
mod images;
mod init;
mod instances;
mod joining;
mod kept;
mod killed;
mod lifetime;
mod listing;
mod living;
mod names;
mod plan;
mod podman;
mod register;
mod registry;
mod remove;
mod shipped;
mod shipped_asks;
mod told;
mod update;
mod update_stopped;
mod words;

use std::process::ExitCode;

use flake_testkit::{ScratchHost, Suite, run, trial};

/// A trial's name and body.
type Case = (&'static str, fn(&ScratchHost) -> anyhow::Result<()>);

fn main() -> ExitCode {
    let all = [
        register::CASES,
        names::CASES,
        force::CASES,
        remove::CASES,
        listing::CASES,
        images::CASES,
        shipped::CASES,
        shipped_asks::CASES,
        init::CASES,
        instances::CASES,
        going::CASES,
        joining::CASES,
        copies::CASES,
        lifetime::CASES,
        living::CASES,
        words::CASES,
        podman::CASES,
        faults::CASES,
        plan::CASES,
        update::CASES,
        update_stopped::CASES,
    ];
    let trials = |cases: &[&[Case]]| {
        cases.iter().flat_map(|cases| cases.iter()).map(|&(name, body)| trial(name, body)).collect()
    };
    run(Suite {
        product: true,
        trials: trials(&all),
        last: trials(&[
            instances::ALONE,
            living::ALONE,
            faults::ALONE,
            plan::ALONE,
            update_stopped::ALONE,
            killed::ALONE,
        ]),
    })
}
