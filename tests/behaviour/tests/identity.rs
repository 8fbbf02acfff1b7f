//! Who the app is, what it sees of the host, and what it must not see.

use std::process::ExitCode;

use flake_behaviour::identity;
use flake_testkit::{ADA, ROOT, Suite, run};

fn main() -> ExitCode {
    let ways = [("rootful", &ROOT, &ROOT), ("rootless", &ADA, &ADA), ("system", &ROOT, &ADA)];
    let trials = ways.into_iter().flat_map(|(name, owner, user)| identity::trials(name, owner, user));
    run(Suite { product: true, trials: trials.collect(), last: Vec::new() })
}
