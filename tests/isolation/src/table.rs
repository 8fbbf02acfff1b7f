//! The isolation table: everything by which two places can be told apart, under `podman run` and under the launcher.

mod allowed;
mod compare;
mod podman;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, ScratchHost, trial};
use libtest_mimic::Trial;

use crate::way::lines;
use crate::{PROBE, Tree, WAYS, Way};
use allowed::{CALLS, FACTS};
use compare::differences;

/// What was found: row and value.
type Rows = BTreeMap<String, String>;

/// Who the application is, and what of the host it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Person {
    /// The image's user, who sees nothing.
    Image,
    /// The caller, in the caller's directory: `--share cwd`.
    Caller,
}

/// A table for each way and person, and one of the system calls for each way.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let of_way = |way: &'static Way| {
        let facts = [("image", Person::Image), ("caller", Person::Caller)];
        let facts = facts.map(|(name, person)| {
            trial(format!("{}::{name}", way.name), move |host| Scene { host, way, person }.facts())
        });
        let calls = trial(format!("{}::calls", way.name), move |host| {
            Scene { host, way, person: Person::Image }.calls()
        });
        facts.into_iter().chain([calls])
    };
    WAYS.iter().flat_map(of_way).collect()
}

/// One comparison.
struct Scene<'a> {
    host: &'a ScratchHost,
    way: &'a Way,
    person: Person,
}

impl Scene<'_> {
    fn facts(&self) -> Result<()> {
        let folder = self.folder()?;
        let paths = podman::listed_paths(self, &folder)?;
        let words: Vec<&str> = ["facts"].into_iter().chain(paths.iter().map(String::as_str)).collect();
        let (expected, found) = self.both(&folder, &words)?;
        let own = |rows: Rows| -> Result<Rows> { Ok(told_apart(rows, &self.hosts_namespaces()?)) };
        self.judge(&own(expected)?, &own(found)?, FACTS, 300)
    }

    fn calls(&self) -> Result<()> {
        let (expected, found) = self.both(&self.folder()?, &["calls"])?;
        self.judge(&expected, &found, CALLS, 1000)
    }

    /// What the probe finds under podman, and under the launcher.
    fn both(&self, folder: &Path, words: &[&str]) -> Result<(Rows, Rows)> {
        let options: &[&str] = if self.person == Person::Caller { &["--share", "cwd"] } else { &[] };
        let name = if self.person == Person::Caller { "table-caller" } else { "table-image" };
        let app = self.way.flake(self.host, &Tree::PROBE, name, options)?;
        let mut command = self.way.command(&app, words);
        command.current_dir(folder);
        let found = run(command).context("under the launcher")?;
        let expected = run(podman::run(self, folder, words)?).context("under podman")?;
        Ok((expected, found))
    }

    fn judge(&self, expected: &Rows, found: &Rows, allowed: &[allowed::Allowed], least: usize) -> Result<()> {
        ensure!(expected.len() > least, "podman's table has {} rows only", expected.len());
        let name = format!("{}::{:?}", self.way.name, self.person).to_lowercase();
        let problems = differences(&name, expected, found, allowed);
        ensure!(problems.is_empty(), "{} differences\n{}", problems.len(), problems.join("\n"));
        Ok(())
    }

    /// A folder of the caller's that may be shared.
    fn folder(&self) -> Result<PathBuf> {
        let folder = PathBuf::from("/srv").join(format!("table-{}", self.host.mark()));
        fs::create_dir(&folder)?;
        chown(&folder, Some(self.way.user.id), Some(self.way.user.id))?;
        Ok(folder)
    }

    /// The namespaces that the caller is in.
    fn hosts_namespaces(&self) -> Result<Rows> {
        let path = PathBuf::from("/usr/local/bin").join(format!("flake-probe-{}", self.host.mark()));
        fs::write(&path, PROBE)?;
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let mut command = self.way.user.command(&path);
        command.arg("facts");
        let mut rows = run(command).context("on the host")?;
        rows.retain(|row, _| row.starts_with("namespace."));
        fs::remove_file(&path)?;
        Ok(rows)
    }
}

/// Longer than the calls that block take together.
const PATIENCE: Duration = Duration::from_secs(120);

fn run(command: std::process::Command) -> Result<Rows> {
    lines(&Call::new(command).within(PATIENCE).run()?)
}

/// The numbers of namespaces say nothing, but whether they are the host's.
fn told_apart(mut rows: Rows, hosts: &Rows) -> Rows {
    for (row, value) in &mut rows {
        if row.starts_with("namespace.") {
            let is_hosts = hosts.get(row) == Some(value);
            *value = if is_hosts { "the host's" } else { "another" }.to_owned();
        }
    }
    rows
}
