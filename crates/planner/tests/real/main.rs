//! Plans made with real podman, for root and for a normal user.

mod basis;
mod left;
mod maker;
mod mounts;
mod ways;

use std::process::ExitCode;

use flake_testkit::{ScratchHost, Suite, run, trial};

/// A trial's name and body.
type Case = (&'static str, fn(&ScratchHost) -> anyhow::Result<()>);

fn main() -> ExitCode {
    if maker::is_asked_for() {
        return maker::main();
    }
    let trials = |cases: &[&[Case]]| {
        cases.iter().flat_map(|cases| cases.iter()).map(|&(name, body)| trial(name, body)).collect()
    };
    run(Suite {
        product: false,
        trials: trials(&[ways::CASES, mounts::CASES, basis::CASES]),
        last: trials(&[left::ALONE]),
    })
}
