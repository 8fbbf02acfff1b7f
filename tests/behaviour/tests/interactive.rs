//! A terminal that is asked for.

use std::process::ExitCode;

use flake_behaviour::interactive;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    run(Suite { product: true, trials: interactive::trials(), last: Vec::new() })
}
