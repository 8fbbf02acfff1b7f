//! Wrappers of programs that write down who was called.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

const PROGRAMS: [&str; 10] = [
    "podman",
    "conmon",
    "runc",
    "crun",
    "sudo",
    "newuidmap",
    "newgidmap",
    "catatonit",
    "slirp4netns",
    "flake-ctl",
];
const FOLDERS: [&str; 7] = [
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/libexec/podman",
    "/usr/lib/podman",
    "/usr/lib/cri-o-runc/sbin",
];
const BOOK: &str = "/run/flake-tattle";

/// The wrappers; they are gone with this.
#[derive(Debug)]
pub(super) struct Tattle {
    replaced: Vec<(PathBuf, PathBuf)>,
}

impl Tattle {
    /// Puts a wrapper in the place of each program that is there.
    pub(super) fn install() -> Result<Self> {
        fs::write(BOOK, "")?;
        fs::set_permissions(BOOK, Permissions::from_mode(0o666))?;
        let mut tattle = Self { replaced: Vec::new() };
        for folder in FOLDERS.map(Path::new) {
            for name in PROGRAMS {
                tattle
                    .replace(folder, name)
                    .with_context(|| format!("replace {name} in {}", folder.display()))?;
            }
        }
        ensure!(tattle.replaced.len() >= 5, "only {:?}", tattle.replaced);
        Ok(tattle)
    }

    fn replace(&mut self, folder: &Path, name: &str) -> Result<()> {
        let (path, real) = (folder.join(name), folder.join(format!(".real-{name}")));
        if !path.is_file() {
            return Ok(());
        }
        fs::rename(&path, &real)?;
        self.replaced.push((path.clone(), real.clone()));
        let script = format!("#!/bin/sh\necho \"{name} $*\" >>{BOOK}\nexec {} \"$@\"\n", real.display());
        fs::write(&path, script)?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Forgets who was called so far.
    pub(super) fn forget(&self) -> Result<()> {
        Ok(fs::write(BOOK, "")?)
    }

    /// Who was called, with the words.
    pub(super) fn said(&self) -> Result<Vec<String>> {
        Ok(fs::read_to_string(BOOK)?.lines().map(str::to_owned).collect())
    }

    /// Whether a program was called.
    pub(super) fn has_run(&self, name: &str) -> bool {
        self.said().is_ok_and(|said| said.iter().any(|line| line.split(' ').next() == Some(name)))
    }
}

impl Drop for Tattle {
    fn drop(&mut self) {
        for (path, real) in &self.replaced {
            let _ = fs::rename(real, path);
        }
    }
}
