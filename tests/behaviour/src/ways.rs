//! The trials of one subject.

use std::sync::{Arc, OnceLock};

use flake_testkit::{ScratchHost, Subject, User, trial};
use libtest_mimic::Trial;

use crate::{Case, Scene, cases};

/// A trial per case, called by `user`; the subject is made when the first of them runs.
pub fn subject_trials(
    name: &'static str,
    user: &'static User,
    make: impl Fn(&ScratchHost) -> anyhow::Result<Subject> + Send + Sync + 'static,
) -> Vec<Trial> {
    let made = Arc::new(OnceLock::new());
    let make = Arc::new(make);
    let of_case = |case: Case| {
        let (made, make) = (Arc::clone(&made), Arc::clone(&make));
        trial(format!("{name}::{}", case.name), move |host| {
            let made = made.get_or_init(|| make(host).map_err(|error| format!("{error:#}")));
            let subject = made.as_ref().map_err(|error| anyhow::anyhow!("no subject: {error}"))?;
            (case.run)(&Scene { host, subject, control: &Subject::control(user) })
        })
    };
    cases().into_iter().map(of_case).collect()
}
