//! What users see of instances that are kept.

use std::process::ExitCode;

use flake_behaviour::instances::{self, ROOTFUL, ROOTLESS};
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    let (trials, last) = instances::trials(&[ROOTFUL, ROOTLESS]);
    run(Suite { product: true, trials, last })
}
