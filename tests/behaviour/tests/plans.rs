//! Launches straight from the layers on hosts where something is not what it was, many at once, and killed ones.
//!
//! `FLAKE_ROUNDS` is the number of rounds of the trials that are named `torture_...`.

use std::process::ExitCode;

use flake_behaviour::plans;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    let (trials, last) = plans::trials();
    run(Suite { product: true, trials, last })
}
