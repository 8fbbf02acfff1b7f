//! Escapes, tried and refused.

use std::process::ExitCode;

use flake_isolation::escapes;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    let (trials, last) = escapes::trials();
    run(Suite { product: true, trials, last })
}
