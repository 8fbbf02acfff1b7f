//! Nothing but the launcher runs in a call.

use std::process::ExitCode;

use flake_isolation::alone;
use flake_testkit::{Suite, run};

fn main() -> ExitCode {
    run(Suite { product: true, trials: Vec::new(), last: alone::trials() })
}
