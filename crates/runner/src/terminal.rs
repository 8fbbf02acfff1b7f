//! The caller's terminal, which the root has under a name of its own: programs look for it in `/dev`.

use crate::filesystem;
use crate::mountpoint::{Kind, Links, find_or_make};
use rustix::fs::{CWD, FileType, fstat, readlink, stat};
use rustix::termios::isatty;
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Where it is inside, as in a container of podman's that has one.
const CONSOLE: &str = "/dev/console";

/// A terminal among a command's descriptors.
#[derive(Debug)]
pub(crate) struct Terminal {
    path: PathBuf,
    device: (u64, u64, u64),
}

impl Terminal {
    /// The first of them that is one.
    pub(crate) fn among(descriptors: &[(u16, OwnedFd)]) -> Option<Self> {
        let (_, descriptor) = descriptors.iter().find(|(_, descriptor)| isatty(descriptor))?;
        let path = readlink(format!("/proc/self/fd/{}", descriptor.as_raw_fd()), Vec::new()).ok()?;
        let path = PathBuf::from(OsString::from_vec(path.into_bytes()));
        Some(Self { path, device: device(&fstat(descriptor).ok()?) })
    }

    /// Shows it in the root. Nothing depends on it: the descriptors work without.
    pub(crate) fn show(&self, root: BorrowedFd<'_>) {
        let is_same = stat(&self.path).is_ok_and(|found| {
            device(&found) == self.device
                && FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
        });
        if !is_same {
            return;
        }
        let _ = filesystem::copy(CWD, &self.path, false).and_then(|mount| {
            let place = find_or_make(root, Path::new(CONSOLE), Kind::File, Links::Refused)?;
            filesystem::attach(&mount, place.as_fd())
        });
    }
}

/// What tells a terminal from another.
#[allow(clippy::useless_conversion, reason = "the widths of the fields differ between architectures")]
fn device(stat: &rustix::fs::Stat) -> (u64, u64, u64) {
    (stat.st_dev.into(), stat.st_ino.into(), stat.st_rdev.into())
}
