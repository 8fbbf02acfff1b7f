//! The behaviour suite in instances that are kept: all cases in one, side by side.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use flake_behaviour::{nothing_is_left, subject_trials};
use flake_testkit::{ADA, ROOT, ScratchHost, Subject, Suite, User, run, trial};

/// Who registers and who calls.
const FLAKES: [(&str, &User, &User); 3] =
    [("rootful-kept", &ROOT, &ROOT), ("rootless-kept", &ADA, &ADA), ("system-kept", &ROOT, &ADA)];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for (name, owner, user) in FLAKES {
        let make =
            move |host: &ScratchHost| Ok(Subject::register(host, name, (owner, user), &["--mutable"])?);
        trials.extend(subject_trials(name, user, make));
    }
    run(Suite { product: true, trials, last: vec![trial("nothing_is_left", left)] })
}

/// Only the instances themselves, one for each flake that was called.
fn left(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA] {
        let containers = host.containers(user)?;
        ensure!(containers.len() <= 2 * FLAKES.len(), "{containers:?}");
        host.podman(user, ["rm", "--all", "--force", "--time", "0"]).check()?;
    }
    nothing_is_left(host, &[&ROOT, &ADA])
}
