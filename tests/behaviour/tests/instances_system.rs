//! What users see of instances of the system's flakes, which each user has in a store of their own.

use std::process::ExitCode;

use flake_behaviour::instances::{self, SYSTEM};
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    let (trials, last) = instances::trials(&[SYSTEM]);
    run(Suite { product: true, trials, last })
}
