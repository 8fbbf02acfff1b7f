//! What a case has at hand.

use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, Outcome, ScratchHost, Subject};

/// A case: its name and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The second half of the name of a trial.
    pub name: &'static str,
    /// The case itself.
    pub run: fn(&Scene<'_>) -> Result<()>,
}

/// A subject, its control and the host both are on.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The host.
    pub host: &'a ScratchHost,
    /// What is tested.
    pub subject: &'a Subject,
    /// The plain command of the host, called by the same user.
    pub control: &'a Subject,
}

impl Scene<'_> {
    /// Does the same with the control and the subject, and gives what both had as result.
    pub(crate) fn same<T: PartialEq + Debug>(&self, act: impl Fn(&Subject) -> Result<T>) -> Result<T> {
        let expected = act(self.control).context("on the plain host command")?;
        let found = act(self.subject)?;
        ensure!(found == expected, "the host command gave {expected:?}\nthis gave {found:?}");
        Ok(found)
    }

    /// Runs the app with `words` and nothing on standard input; the outcome is the control's too.
    pub(crate) fn same_outcome(&self, words: &[&str]) -> Result<Outcome> {
        self.same(|subject| Ok(subject.call(words).run()?))
    }

    /// Runs a bash script in which `$APP` is the app; the outcome is the control's too.
    pub(crate) fn same_script(&self, script: &str) -> Result<Outcome> {
        self.same(|subject| Ok(Call::new(subject.script(script)).run()?))
    }

    /// A path in /tmp that nobody else uses.
    pub(crate) fn fresh_path(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/{}", self.host.mark()))
    }

    /// A new file that everybody can read.
    pub(crate) fn file(&self, content: &[u8]) -> Result<PathBuf> {
        let path = self.fresh_path();
        fs::write(&path, content)?;
        Ok(path)
    }
}
