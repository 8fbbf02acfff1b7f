//! What a report needs to be looked at.

use std::fs;
use std::os::unix::fs::chown;
use std::path::PathBuf;

use anyhow::Result;
use flake_testkit::{ADA, ScratchHost, Subject};

/// The host and an app on it.
#[derive(Debug)]
pub struct Ground<'a> {
    /// The host.
    pub host: &'a ScratchHost,
    /// Registered and called by ada, with busybox as target.
    pub app: &'a Subject,
    /// The host's own busybox called by ada.
    pub control: &'a Subject,
}

impl Ground<'_> {
    /// A path in /tmp that nobody else uses.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/{}", self.host.mark()))
    }

    /// A new directory of ada's.
    pub(crate) fn directory(&self) -> Result<PathBuf> {
        let dir = ADA.home().join(format!("work-{}", self.host.mark()));
        fs::create_dir(&dir)?;
        chown(&dir, Some(ADA.id), Some(ADA.id))?;
        Ok(dir)
    }
}
