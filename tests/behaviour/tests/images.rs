//! Images of all kinds, and what is installed.

use std::process::ExitCode;

use flake_behaviour::images;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    run(Suite { product: true, trials: images::trials(), last: images::alone() })
}
