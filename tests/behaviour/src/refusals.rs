//! What cannot work is refused: one readable message, status 125, and nothing half-done.

mod files;
mod hosts;
mod names;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Image, Outcome, ScratchHost, trial};
use libtest_mimic::Trial;

/// A case: its name and what it does.
type Case = (&'static str, fn(&Flakes<'_>) -> Result<()>);

/// The trials that run side by side, and those that take something away from the host.
#[must_use]
pub fn trials() -> (Vec<Trial>, Vec<Trial>) {
    let of_case = |&(name, body): &Case| trial(name, move |host| body(&Flakes { host }));
    let cases = [files::CASES, names::CASES, hosts::CASES].concat();
    (cases.iter().map(of_case).collect(), hosts::ALONE.iter().map(of_case).collect())
}

/// Flakes of ada that can be spoilt.
struct Flakes<'a> {
    host: &'a ScratchHost,
}

impl Flakes<'_> {
    /// Registers one for this case alone.
    fn register(&self, name: &str) -> Result<Flake> {
        let app = self.host.register(&ADA, (name, &Image::BOX, "/bin/busybox"), &[]).context("register")?;
        let file = ADA.home().join(".config/flakes").join(format!("{name}.yaml"));
        ensure!(file.is_file(), "no {}", file.display());
        Ok(Flake { app, file })
    }

    /// No container of the flake is there, running or not.
    fn nothing_started(&self, name: &str) -> Result<()> {
        let filter = format!("label=flake.name={name}");
        let list = self.host.podman(&ADA, ["ps", "--all", "--quiet", "--filter", &filter]).check()?;
        ensure!(list.out().is_empty(), "{list}");
        Ok(())
    }
}

/// A registered flake.
struct Flake {
    app: PathBuf,
    file: PathBuf,
}

impl Flake {
    fn call(&self) -> Result<Outcome> {
        echo(&self.app)
    }
}

/// `app echo word` by ada.
fn echo(app: impl AsRef<OsStr>) -> Result<Outcome> {
    let mut command = ADA.command(app);
    command.args(["echo", "word"]);
    Ok(Call::new(command).run()?)
}

/// The launcher's refusal: it names `named`, and it is for people.
fn refused(outcome: &Outcome, named: &str) -> Result<()> {
    ensure!(outcome.code == Some(125) && outcome.stdout.is_empty(), "{outcome}");
    readable(outcome, named)
}

/// A message that names `named` and is not the insides of the program.
fn readable(outcome: &Outcome, named: &str) -> Result<()> {
    let text = std::str::from_utf8(&outcome.stderr).context("not even text")?;
    ensure!(text.contains(named), "no word about {named}: {outcome}");
    ensure!((1..=8).contains(&text.lines().count()), "{outcome}");
    ensure!(text.lines().all(|line| line.len() < 400), "a line too long to read: {outcome}");
    for inside in ["panicked", "RUST_BACKTRACE", "Error {", "Os {", "Some(", "Err("] {
        ensure!(!text.contains(inside), "{inside}: {outcome}");
    }
    Ok(())
}

/// That it worked after all.
fn works(outcome: &Outcome) -> Result<()> {
    ensure!(outcome.success() && outcome.out() == "word\n", "{outcome}");
    Ok(())
}

/// The file name of a path, as text.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
