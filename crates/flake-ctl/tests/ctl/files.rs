//! Everything that a registration consists of.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use flake_testkit::{Call, ROOT, ScratchHost};

const FLAKES: &str = "/usr/share/flakes";
const PINS: &str = "/var/lib/flakes/pins";
/// Around what tells one file from another with the same content.
const INODE: &str = " inode ";

/// What a system flake has on the host and in root's store.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State(Vec<String>);

impl State {
    /// The state of the flake NAME whose command is at `path`, down to what should not be there.
    pub(crate) fn of(name: &str, path: &Path, host: &ScratchHost) -> Result<Self> {
        let mut paths = vec![path.to_owned()];
        let folders = [
            PathBuf::from(FLAKES),
            format!("{FLAKES}/images").into(),
            format!("{FLAKES}/{name}.d").into(),
            PINS.into(),
        ];
        let bin = path.parent().map(Path::to_owned);
        for folder in folders.into_iter().chain(bin) {
            let names = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
            let is_named = |path: &PathBuf| path.to_string_lossy().contains(name);
            paths.extend(names.filter(is_named));
        }
        paths.sort();
        paths.dedup();
        let mut lines = paths.iter().map(|path| describe(path)).collect::<Result<Vec<_>>>()?;
        let tags = host
            .podman(&ROOT, ["images", "--no-trunc", "--format", "{{.Repository}} {{.Tag}} {{.ID}}"])
            .check()?;
        let tag = format!("localhost/flake/{name} ");
        lines.extend(tags.out().lines().filter(|line| line.starts_with(&tag)).map(str::to_owned));
        Ok(Self(lines))
    }

    /// Whether what is there now is the same, but for which files in particular hold it.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let shape = |state: &Self| -> Vec<String> {
            let lines = state.0.iter().map(|line| line.split(INODE).map(str::to_owned).collect::<Vec<_>>());
            lines
                .map(|parts| [parts.first(), parts.get(2)].into_iter().flatten().cloned().collect())
                .collect()
        };
        shape(self) == shape(other)
    }

    /// Fails when anything is different now.
    pub(crate) fn is_still(&self, name: &str, path: &Path, host: &ScratchHost) -> Result<()> {
        let now = Self::of(name, path, host)?;
        ensure!(*self == now, "before: {self:#?}\nnow: {now:#?}");
        Ok(())
    }
}

fn describe(path: &Path) -> Result<String> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(format!("{}: absent", path.display())) };
    let what = if found.is_symlink() {
        format!("link to {}", fs::read_link(path)?.display())
    } else if found.is_dir() {
        "folder".to_owned()
    } else {
        // The archive is compared by inode: it is never written in place.
        let text = if found.len() < 4096 { fs::read_to_string(path)? } else { String::new() };
        format!("{:o}{INODE}{}{INODE}{} {text}", found.permissions().mode(), found.ino(), found.len())
    };
    Ok(format!("{}: {what}", path.display()))
}

/// A script run by root with mounts of its own.
pub(crate) fn private(script: &str) -> Call {
    let mut command = ROOT.command("/usr/bin/unshare");
    command.args(["--mount", "/bin/bash", "-c", script]);
    Call::new(command)
}
