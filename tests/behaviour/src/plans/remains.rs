//! What is on the host: mounts, processes, and files where launches could leave some.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use flake_testkit::{ADA, processes, until};

/// Podman's notes of how containers ended; it leaves that of one which it removes before anything runs in it.
const EXITS: &str = "exits";

/// Where podman binds its store to itself; it may stay when several podmans end at once.
fn is_podmans(mountpoint: &str) -> bool {
    mountpoint.ends_with("/containers/storage/overlay")
}

/// What there was at one moment.
pub(crate) struct Host(BTreeSet<String>);

impl Host {
    pub(crate) fn look() -> Result<Self> {
        let mut found = BTreeSet::new();
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let of_launches = mounts.lines().filter(|line| !line.split(' ').nth(4).is_some_and(is_podmans));
        found.extend(of_launches.map(|line| format!("mount {line}")));
        for process in processes::all() {
            found.insert(format!("process {} {} {}", process.pid, process.name, process.line));
        }
        let state = ADA.home().join(".local/state");
        let folders = ["/run", "/tmp", "/dev/shm", "/dev/mqueue", "/var/lib/flakes", "/usr/share/flakes"];
        for folder in folders.map(PathBuf::from).into_iter().chain([state, ADA.home().join(".config")]) {
            if let Ok(device) = fs::metadata(&folder).map(|folder| folder.dev()) {
                walk(&folder, device, &mut found);
            }
        }
        Ok(Self(found))
    }

    /// Waits until there is nothing that was not there then.
    pub(crate) fn has_nothing_more(&self) -> Result<()> {
        let more = || -> Vec<String> {
            Self::look().map(|now| now.0.difference(&self.0).cloned().collect()).unwrap_or_default()
        };
        let gone = || more().is_empty().then_some(());
        Ok(until("the host as it was", gone, || format!("{:#?}", more()))?)
    }
}

fn walk(folder: &Path, device: u64, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.ends_with(EXITS) {
            continue;
        }
        found.insert(format!("file {}", path.display()));
        if entry.metadata().is_ok_and(|entry| entry.is_dir() && entry.dev() == device) {
            walk(&path, device, found);
        }
    }
}
