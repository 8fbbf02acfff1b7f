//! A hostile program inside tries to get out, or at what is not its own. Each attempt is made for real; where it can be,
//! the same attempt is shown to work where it is allowed, so that a refusal means something.

mod confinement;
mod descriptors;
mod devices;
mod images;
mod launcher;
mod processes;
mod shares;
mod terminal;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use flake_testkit::{Call, Outcome, ScratchHost, trial};
use libtest_mimic::Trial;

use crate::way::lines;
use crate::{PROBE, Tree, WAYS, Way};

/// A case: its name and what it does.
type Case = (&'static str, fn(&Ground<'_>) -> Result<()>);

/// What an attempt of the probe came to.
type Rows = BTreeMap<String, String>;

/// The trials of each way, and those that need the host for themselves.
#[must_use]
pub fn trials() -> (Vec<Trial>, Vec<Trial>) {
    let side_by_side = [
        confinement::CASES,
        descriptors::CASES,
        devices::CASES,
        images::CASES,
        processes::CASES,
        shares::CASES,
        terminal::CASES,
    ]
    .concat();
    (of_ways(&side_by_side), of_ways(launcher::CASES))
}

fn of_ways(cases: &[Case]) -> Vec<Trial> {
    let of_way = |way: &'static Way| {
        let of_case = move |&(name, body): &Case| {
            trial(format!("{}::{name}", way.name), move |host| body(&Ground { host, way }))
        };
        cases.iter().map(of_case).collect::<Vec<_>>()
    };
    WAYS.iter().flat_map(of_way).collect()
}

/// A host and a way to call.
struct Ground<'a> {
    host: &'a ScratchHost,
    way: &'a Way,
}

impl Ground<'_> {
    /// The flake that sees nothing of the host.
    fn plain(&self) -> Result<PathBuf> {
        self.way.flake(self.host, &Tree::PLAIN, "escape", &[])
    }

    /// The probe's attempt in that flake.
    fn attempt(&self, words: &[&str]) -> Result<Rows> {
        self.way.attempt(&self.plain()?, words)
    }

    /// A script in that flake.
    fn shell(&self, script: &str) -> Result<Outcome> {
        self.way.call(&self.plain()?, &["sh", "-c", script])
    }

    /// The probe's attempt under podman.
    fn under_podman(&self, words: &[&str]) -> Result<Rows> {
        let image = Tree::PLAIN.import(self.host, self.way.user)?;
        let fixed = ["run", "--rm", "--pull=never", "--network=host", &image, "/bin/probe", "try"];
        lines(&self.host.podman(self.way.user, fixed.iter().chain(words)).run()?)
    }

    /// The probe as a program of the host.
    fn program(&self) -> Result<PathBuf> {
        let path = PathBuf::from("/usr/local/bin").join(format!("flake-probe-{}", self.host.mark()));
        fs::write(&path, PROBE)?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// The probe's attempt by the user on the host.
    fn on_host(&self, words: &[&str]) -> Result<Rows> {
        let mut command = self.way.user.command(self.program()?);
        command.arg("try").args(words);
        lines(&Call::new(command).run()?)
    }

    /// Whether the user is root.
    fn is_root(&self) -> bool {
        self.way.user.id == 0
    }

    /// A new folder that everybody may use, with a file in it.
    fn folder(&self) -> Result<PathBuf> {
        let folder = PathBuf::from("/srv").join(format!("escape-{}", self.host.mark()));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o777))?;
        fs::write(folder.join("file"), "the host's\n")?;
        fs::set_permissions(folder.join("file"), Permissions::from_mode(0o666))?;
        Ok(folder)
    }
}

/// Each of these rows is there, and is a refusal.
fn refused(rows: &Rows, prefixes: &[&str]) -> Result<()> {
    for prefix in prefixes {
        let mut found = rows.iter().filter(|(row, _)| row.starts_with(prefix)).peekable();
        ensure!(found.peek().is_some(), "nothing was tried at {prefix}: {rows:#?}");
        for (row, value) in found {
            ensure!(value.starts_with("errno "), "{row} is {value:?}: {rows:#?}");
        }
    }
    Ok(())
}

/// One of these rows is there and worked: else the attempt means nothing.
fn works(rows: &Rows, row: &str) -> Result<()> {
    ensure!(rows.get(row).is_some_and(|value| value.starts_with("ok")), "{row} does not work: {rows:#?}");
    Ok(())
}

/// What podman refuses is refused.
fn no_more_than(podman: &Rows, own: &Rows) -> Result<()> {
    ensure!(podman.len() == own.len() && podman.len() > 1, "other rows: {podman:#?} {own:#?}");
    for (row, value) in own {
        let podmans = podman.get(row).map_or("", String::as_str);
        let is_refused = value.starts_with("errno ") || podmans.starts_with("ok");
        ensure!(is_refused, "{row}: under podman {podmans:?}, here {value:?}");
    }
    Ok(())
}

/// The host's file has this content.
fn has(path: &Path, content: &str) -> Result<()> {
    let found = fs::read_to_string(path)?;
    ensure!(found == content, "{} has {found:?}", path.display());
    Ok(())
}
