//! Identity and sharing: with `share: [cwd]` and `user: caller` the app is the caller and works in the
//! caller's directory; without sharing it sees nothing of the host.

mod apps;
mod environment;
mod isolation;
mod person;
mod sharing;

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result, anyhow};
use flake_testkit::{ScratchHost, User, trial};
use libtest_mimic::Trial;

use apps::Apps;

/// A case: its name and what it does.
pub(crate) type Case = (&'static str, fn(&Apps<'_>) -> Result<()>);

/// The trials, named `way::case`, for flakes that `owner` registers and `user` calls.
pub fn trials(way: &'static str, owner: &'static User, user: &'static User) -> Vec<Trial> {
    let paths = Arc::new(OnceLock::new());
    let of_case = |&(name, body): &Case| {
        let paths = Arc::clone(&paths);
        trial(format!("{way}::{name}"), move |host: &ScratchHost| {
            let made =
                paths.get_or_init(|| apps::Paths::make(host, way, owner).map_err(|e| format!("{e:#}")));
            let paths = made.as_ref().map_err(|error| anyhow!("{error}")).context("no subject")?;
            body(&Apps { host, user, paths })
        })
    };
    let all = [person::CASES, sharing::CASES, environment::CASES, isolation::CASES];
    all.concat().iter().map(of_case).collect()
}
