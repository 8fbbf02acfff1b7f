//! Folders mounted into containers that run: real podman, the real agent, root and a normal user.

mod container;
mod escapes;
mod grafter;
mod refused;
mod shown;

use std::process::ExitCode;

use flake_testkit::{ScratchHost, Suite, run, trial};

/// A trial's name and body.
type Case = (&'static str, fn(&ScratchHost) -> anyhow::Result<()>);

fn main() -> ExitCode {
    if let Some(status) = grafter::main() {
        return status;
    }
    // What is mounted on the host is looked at, so one at a time.
    let cases = [shown::CASES, escapes::CASES, refused::CASES];
    let last = cases.iter().flat_map(|cases| cases.iter()).map(|&(name, body)| trial(name, body)).collect();
    run(Suite { product: true, trials: Vec::new(), last })
}
