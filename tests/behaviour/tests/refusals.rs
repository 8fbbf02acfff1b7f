//! Bad registrations, bad calls and bad hosts.

use std::process::ExitCode;

use flake_behaviour::refusals;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    let (trials, last) = refusals::trials();
    run(Suite { product: true, trials, last })
}
