//! What users see of instances that root's store keeps for them, through sudo.

use std::process::ExitCode;

use flake_behaviour::instances::{self, LENT};
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    let (trials, last) = instances::trials(&[LENT]);
    run(Suite { product: true, trials, last })
}
