//! Root's folder for what launches write, on a disk: what root has of a scratch host's state is on an overlay, where
//! no other can be.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flake_testkit::{Call, ROOT, ScratchHost};

const PLACE: &str = "/var/lib/flakes/scratch";

/// The folder, as long as this value is there.
#[derive(Debug)]
pub struct RootDisk(PathBuf);

impl RootDisk {
    /// Mounts it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn mounted(host: &ScratchHost) -> Result<Self> {
        let disk = PathBuf::from(format!("/tmp/root-disk-{}", host.mark()));
        let script = r#"mkdir -p "$1" "$2"; chmod 700 "$1" "$2"; mount --bind "$2" "$1""#;
        shell(script, &[Path::new(PLACE), &disk])?;
        Ok(Self(disk))
    }
}

impl Drop for RootDisk {
    fn drop(&mut self) {
        let _ = shell(r#"umount -l "$1"; rmdir "$1""#, &[Path::new(PLACE)]);
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A script of root's; `words` are `$1` to `$9`.
pub(crate) fn shell(script: &str, words: &[&Path]) -> Result<()> {
    let mut command = ROOT.command("/bin/sh");
    command.args(["-ec", script, "sh"]).args(words);
    Call::new(command).check().context("prepare the host")?;
    Ok(())
}
