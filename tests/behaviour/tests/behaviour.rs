//! The behaviour suite on podman: the host command itself as its own control, then each way to own and call a
//! flake.
//!
//! Trials are named `subject::case`; a word on the command line selects those that contain it.

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use flake_behaviour::{Scene, cases, nothing_is_left};
use flake_testkit::{ADA, ROOT, ScratchHost, Subject, Suite, User, run, trial};

/// Who registers, and who calls.
type People = (&'static User, &'static User);

/// Registered and called by root; by a user; registered by root and called by a user.
const FLAKES: [(&str, People); 3] =
    [("rootful", (&ROOT, &ROOT)), ("rootless", (&ADA, &ADA)), ("system", (&ROOT, &ADA))];

fn main() -> ExitCode {
    let mut trials = subject_trials("host", &ROOT, |_| Ok(Subject::control(&ROOT)));
    for (name, people) in FLAKES {
        trials.extend(subject_trials(name, people.1, move |host| Subject::register(host, name, people, &[])));
    }
    let last = trial("nothing_is_left", |host| nothing_is_left(host, &[&ROOT, &ADA]));
    run(Suite { product: true, trials, last: vec![last] })
}

/// A trial per case; the subject is made when the first of them runs.
fn subject_trials(
    name: &'static str,
    user: &'static User,
    make: impl Fn(&ScratchHost) -> flake_testkit::Result<Subject> + Send + Sync + 'static,
) -> Vec<libtest_mimic::Trial> {
    let made = Arc::new(OnceLock::new());
    let make = Arc::new(make);
    let of_case = |case: flake_behaviour::Case| {
        let (made, make) = (Arc::clone(&made), Arc::clone(&make));
        trial(format!("{name}::{}", case.name), move |host| {
            let made = made.get_or_init(|| make(host).map_err(|error| error.to_string()));
            let subject = made.as_ref().map_err(|error| anyhow::anyhow!("no subject: {error}"))?;
            (case.run)(&Scene { host, subject, control: &Subject::control(user) })
        })
    };
    cases().into_iter().map(of_case).collect()
}
