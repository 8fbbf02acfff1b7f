//! Faults of instances that are kept.
//!
//! `FLAKE_ROUNDS` is the number of rounds of the trials that are named `torture_...`.

use std::process::ExitCode;

use flake_behaviour::kept;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    run(Suite { product: true, trials: Vec::new(), last: kept::trials() })
}
