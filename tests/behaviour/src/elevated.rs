//! Flakes that run as root and are called by a normal user.

mod descriptors;
mod environment;
mod files;
mod findings;
mod forge;
mod kept;
mod messages;
mod names;
mod person;
mod sudo;
mod suite;
mod torture;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Image, Outcome, ROOT, ScratchHost, User, trial, until};
use libtest_mimic::Trial;

/// A case: its name and what it does.
type Case = (&'static str, fn(&Ground<'_>) -> Result<()>);

/// The trials that run side by side, and those that change the host for everybody.
#[must_use]
pub fn trials() -> (Vec<Trial>, Vec<Trial>) {
    let of_case = |&(name, body): &Case| trial(name, move |host| body(&Ground { host }));
    let cases = [
        descriptors::CASES,
        messages::CASES,
        names::CASES,
        files::CASES,
        environment::CASES,
        sudo::CASES,
        person::CASES,
        torture::CASES,
        findings::CASES,
        kept::CASES,
    ];
    let mut trials = suite::trials();
    trials.extend(cases.concat().iter().map(of_case));
    let mut last: Vec<_> =
        [sudo::ALONE, files::ALONE, findings::ALONE].concat().iter().map(of_case).collect();
    last.push(trial("nothing_is_left", |host| crate::nothing_is_left(host, &[&ROOT, &ADA])));
    (trials, last)
}

/// The host with flakes of root on it.
struct Ground<'a> {
    host: &'a ScratchHost,
}

impl Ground<'_> {
    /// Has root register a flake that runs as root, once for all cases that ask for it.
    fn flake(&self, name: &'static str, options: &[&str]) -> Result<PathBuf> {
        static MADE: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(app) = made.get(name) {
            return Ok(app.clone());
        }
        let all = [&["--run-as", "root", "--network", "host"], options].concat();
        let app = self.host.register(&ROOT, (name, &Image::BOX, "/bin/busybox"), &all)?;
        made.insert(name, app.clone());
        Ok(app)
    }

    /// How many containers of the flake were ever made in root's store.
    fn made(&self, name: &str) -> Result<usize> {
        let label = format!("label=flake.name={name}");
        let words = ["events", "--stream=false", "--filter", "event=create", "--filter", &label];
        let events = self.host.podman(&ROOT, words).check()?.out();
        Ok(events.lines().filter(|line| !line.is_empty()).count())
    }

    /// No container of the flake was ever made.
    fn nothing_ran(&self, name: &str) -> Result<()> {
        let made = self.made(name)?;
        ensure!(made == 0, "{made} containers of {name} were made");
        Ok(())
    }

    /// Waits until no container of the flake is there.
    fn none_left(&self, name: &str) -> Result<()> {
        let filter = format!("label=flake.name={name}");
        let list = || self.host.podman(&ROOT, ["ps", "--all", "--quiet", "--filter", &filter]).run();
        let none = || list().is_ok_and(|list| list.success() && list.out().is_empty()).then_some(());
        Ok(until(&format!("the end of the containers of {name}"), none, || format!("{:?}", list()))?)
    }

    /// A new directory of ada, closed to nobody, that may be shared.
    fn directory(&self) -> Result<PathBuf> {
        let dir = PathBuf::from(format!("/tmp/elevated-{}", self.host.mark()));
        fs::create_dir(&dir)?;
        chown(&dir, Some(ADA.id), Some(ADA.id))?;
        Ok(dir)
    }
}

/// `app WORDS...` by somebody.
fn call(user: &User, app: &Path, words: &[&str]) -> Result<Outcome> {
    let mut command = user.command(app);
    command.args(words);
    Ok(Call::new(command).run()?)
}

/// The launcher's refusal: status 125, nothing on standard output, and one line that has `named` in it.
fn refused(outcome: &Outcome, named: &str) -> Result<()> {
    ensure!(outcome.code == Some(125) && outcome.stdout.is_empty(), "{outcome}");
    let said = std::str::from_utf8(&outcome.stderr).context("not even text")?;
    ensure!(said.lines().count() == 1 && said.contains(named), "no word about {named}: {outcome}");
    Ok(())
}

/// `app echo word` worked.
fn works(outcome: &Outcome) -> Result<()> {
    ensure!(outcome.success() && outcome.out() == "word\n", "{outcome}");
    Ok(())
}
