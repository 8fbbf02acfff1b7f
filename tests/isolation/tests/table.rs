//! The isolation table.

use std::process::ExitCode;

use flake_isolation::table;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    run(Suite { product: true, trials: table::trials(), last: Vec::new() })
}
