//! What podman writes into a root.

use std::process::ExitCode;

use flake_behaviour::written;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    run(Suite { product: true, trials: written::trials(), last: Vec::new() })
}
