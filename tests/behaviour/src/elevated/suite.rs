//! The behaviour suite for a flake of root that a normal user calls.

use std::sync::{Arc, OnceLock};

use anyhow::anyhow;
use flake_testkit::{ADA, ROOT, ScratchHost, Subject, trial};
use libtest_mimic::Trial;

use crate::scene::{Case, Scene};

const NAME: &str = "elevated";

/// A trial per case.
pub(super) fn trials() -> Vec<Trial> {
    let made = Arc::new(OnceLock::new());
    let of_case = |case: Case| {
        let name = format!("{NAME}::{}", case.name);
        let made = Arc::clone(&made);
        trial(name, move |host: &ScratchHost| {
            let options = ["--run-as", "root", "--network", "host"];
            let make = || Subject::register(host, NAME, (&ROOT, &ADA), &options);
            let made = made.get_or_init(|| make().map_err(|error| error.to_string()));
            let subject = made.as_ref().map_err(|error| anyhow!("no subject: {error}"))?;
            (case.run)(&Scene { host, subject, control: &Subject::control(&ADA) })
        })
    };
    crate::cases().into_iter().map(of_case).collect()
}
