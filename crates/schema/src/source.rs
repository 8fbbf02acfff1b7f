//! Which files something was read from, so that a later look can tell whether they are still the same.

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Device.
    pub dev: u64,
    /// Inode.
    pub inode: u64,
    /// Time of the last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Size in bytes.
    pub size: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Type and permissions, as `st_mode`.
    pub mode: u32,
}

impl From<&Stat> for Identity {
    // the widths of the fields differ between architectures
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        clippy::useless_conversion,
        trivial_numeric_casts
    )]
    fn from(stat: &Stat) -> Self {
        let seconds = (stat.st_mtime as i64).saturating_mul(1_000_000_000);
        Self {
            dev: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            mtime_ns: seconds.saturating_add(i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            size: stat.st_size as u64,
            uid: stat.st_uid,
            gid: stat.st_gid,
            mode: stat.st_mode,
        }
    }
}

/// A file or directory that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its path, as it was opened.
    pub path: PathBuf,
    /// Its state just before it was read; `None` when it was not there.
    pub identity: Option<Identity>,
}
