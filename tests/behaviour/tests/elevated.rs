//! Flakes that run as root and are called by a normal user, through sudo: the behaviour suite, who the app is
//! then, and what nobody gets out of it.
//!
//! `FLAKE_ROUNDS` is the number of rounds of the trials that are named `torture_...`.

use std::process::ExitCode;

use flake_behaviour::elevated;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    let (trials, last) = elevated::trials();
    run(Suite { product: true, trials, last })
}
