//! Disks without space while an instance is made: one clear error, and with space again the next call works.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::ground::{Case, Flake, Ground, shell};

pub(super) const CASES: &[Case] = &[("the_store_is_full", store), ("the_state_is_full", state)];

/// What is left, in KiB: from nothing to enough.
const LEFT: [u32; 7] = [0, 4, 8, 16, 32, 64, 8192];

/// A file system in memory over a folder, with what is in it and a block of ours: of none it would have no limit.
struct Small<'a> {
    flake: &'a Flake<'a>,
    folder: PathBuf,
}

impl<'a> Small<'a> {
    fn mount(flake: &'a Flake<'a>, folder: PathBuf) -> Result<Self> {
        let at = folder.display();
        shell(&format!(
            "mkdir /tmp/small; mount -t tmpfs -o size=64m tmpfs /tmp/small
            cp -a {at}/. /tmp/small; chown --reference={at} /tmp/small; chmod --reference={at} /tmp/small
            echo > /tmp/small/.filler
            mount --bind /tmp/small {at}; umount /tmp/small; rmdir /tmp/small"
        ))?;
        let small = Self { flake, folder };
        small.seen_by_podman()?;
        Ok(small)
    }

    /// The mounts of a user's podman are those of when its namespace was made.
    fn seen_by_podman(&self) -> Result<()> {
        if self.flake.way.store.id != 0 {
            self.flake.podman(&["system", "migrate"])?;
        }
        Ok(())
    }

    fn leave(&self, left: u32) -> Result<()> {
        let at = self.folder.display();
        shell(&format!(
            "used=$(df -k --output=used {at} | tail -n 1); mount -o remount,size=$((used + {left}))k {at}"
        ))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = shell(&format!("umount -l {}; rm -rf /run/mount", self.folder.display()));
        let _ = self.seen_by_podman();
    }
}

fn store(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let folder = match flake.way.store.id {
        0 => "/var/lib/containers/storage".into(),
        _ => flake.way.store.home().join(".local/share/containers/storage"),
    };
    let small = Small::mount(&flake, folder)?;
    let failures = each(&small, &flake)?;
    ensure!((1..LEFT.len()).contains(&failures), "{failures} of the disks were too small");
    drop(small);
    as_before(&flake)
}

fn state(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let folder = flake.note().parent().and_then(Path::parent).context("no folder")?.to_owned();
    let small = Small::mount(&flake, folder)?;
    let failures = each(&small, &flake)?;
    ensure!((1..LEFT.len()).contains(&failures), "{failures} of the disks were too small");
    drop(small);
    as_before(&flake)
}

/// A first call with each size of what is left; how many of them failed.
fn each(small: &Small<'_>, flake: &Flake<'_>) -> Result<usize> {
    let mut failures = 0;
    for left in LEFT {
        let at = || format!("{left} KiB left");
        small.leave(left)?;
        let outcome = flake.call(&["echo", "word"]).run()?;
        if !outcome.success() {
            failures += 1;
            flake.failed(&outcome, "no space left").with_context(at)?;
        }
        small.leave(16 << 10)?;
        flake.works().with_context(at).context("with space again")?;
        flake.is_one().with_context(at)?;
        flake.remove().with_context(at)?;
        ensure!(flake.containers()?.is_empty(), "{}: {:?}", at(), flake.containers());
    }
    Ok(failures)
}

/// Podman's namespace of a user is a new one, so that not all is as it was.
fn as_before(flake: &Flake<'_>) -> Result<()> {
    flake.works()?;
    flake.is_one()?;
    flake.remove()?;
    ensure!(flake.containers()?.is_empty(), "{:?}", flake.containers());
    Ok(())
}
