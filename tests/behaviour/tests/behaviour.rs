//! The behaviour suite on podman: the host command itself as its own control, then each way to own and call a
//! flake.
//!
//! Trials are named `subject::case`; a word on the command line selects those that contain it.

use std::process::ExitCode;

use flake_behaviour::{RootDisk, nothing_is_left, subject_trials};
use flake_testkit::{ADA, AGENT_WAY, ROOT, ScratchHost, Subject, Suite, User, run, trial};

/// Who registers, and who calls.
type People = (&'static User, &'static User);

const DISK: &[&str] = &["--scratch", "disk"];

/// Registered and called by root; by a user; registered by root and called by a user: straight from the layers, with
/// what is written in memory or on disk, and through podman and the agent.
const FLAKES: [(&str, People, &[&str]); 9] = [
    ("rootful", (&ROOT, &ROOT), &[]),
    ("rootless", (&ADA, &ADA), &[]),
    ("system", (&ROOT, &ADA), &[]),
    ("rootful-disk", (&ROOT, &ROOT), DISK),
    ("rootless-disk", (&ADA, &ADA), DISK),
    ("system-disk", (&ROOT, &ADA), DISK),
    ("rootful-agent", (&ROOT, &ROOT), AGENT_WAY),
    ("rootless-agent", (&ADA, &ADA), AGENT_WAY),
    ("system-agent", (&ROOT, &ADA), AGENT_WAY),
];

fn main() -> ExitCode {
    let mut trials = subject_trials("host", &ROOT, |_| Ok(Subject::control(&ROOT)));
    for (name, people, options) in FLAKES {
        let make = move |host: &ScratchHost| {
            if options == DISK && people.1.id == ROOT.id {
                // For all trials, until the host ends.
                std::mem::forget(RootDisk::mounted(host)?);
            }
            Ok(Subject::register(host, name, people, options)?)
        };
        trials.extend(subject_trials(name, people.1, make));
    }
    let last = trial("nothing_is_left", |host| nothing_is_left(host, &[&ROOT, &ADA]));
    run(Suite { product: true, trials, last: vec![last] })
}
