//! The control groups podman leaves behind: a scratch host shares the machine's hierarchy.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";
/// The group that podman's cgroupfs manager keeps its containers in.
const PARENT: &str = "libpod_parent";

/// The groups that were there before.
#[derive(Debug)]
pub(crate) struct Cgroups(BTreeSet<PathBuf>);

impl Cgroups {
    pub(crate) fn remember() -> Self {
        Self(parents().into_iter().collect())
    }

    /// Removes the groups that are new; those still in use stay, since the kernel refuses.
    pub(crate) fn restore(&self) {
        for parent in parents() {
            if !self.0.contains(&parent) {
                prune(&parent);
            }
        }
    }
}

/// podman's group in the unified hierarchy or in each version 1 controller.
fn parents() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let controllers = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    std::iter::once(root.to_owned())
        .chain(controllers)
        .map(|dir| dir.join(PARENT))
        .filter(|dir| dir.is_dir())
        .collect()
}

fn prune(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            prune(&entry.path());
        }
    }
    let _ = fs::remove_dir(dir);
}
