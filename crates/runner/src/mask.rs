//! Paths of which nothing is seen, and those that cannot be written to.

use crate::devices::Devices;
use crate::error::{RunError, on};
use crate::filesystem;
use crate::mountpoint::{Links, file_type, find};
use flake_plan::MountFlags;
use rustix::fs::FileType;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

const EMPTY: MountFlags = MountFlags {
    read_only: true,
    no_suid: true,
    no_exec: true,
    no_atime: false,
    strict_atime: false,
    no_dir_atime: false,
    recursive: false,
};

/// Covers paths: folders by an empty one, files by `/dev/null`.
pub(crate) fn cover(root: BorrowedFd<'_>, paths: &[PathBuf], devices: &mut Devices) -> Result<(), RunError> {
    // One of each is enough; only a mount that is attached can be copied everywhere.
    let (mut empty, mut null): (Option<OwnedFd>, Option<OwnedFd>) = (None, None);
    for path in paths {
        let Some(place) = there(root, path)? else { continue };
        let is_folder = file_type(&place).map_err(on("look at", path))? == FileType::Directory;
        let first = if is_folder { &mut empty } else { &mut null };
        let cover = match &*first {
            Some(first) => filesystem::copy(first, Path::new(""), false),
            None if is_folder => filesystem::new("tmpfs", &[("mode".into(), Some("0755".into()))], EMPTY),
            None => devices.like(Path::new("/dev/null")),
        };
        let cover = cover.map_err(on("mask", path))?;
        filesystem::attach(&cover, place.as_fd()).map_err(on("mask", path))?;
        first.get_or_insert(cover);
    }
    Ok(())
}

/// Makes paths read-only.
pub(crate) fn protect(root: BorrowedFd<'_>, paths: &[PathBuf]) -> Result<(), RunError> {
    for path in paths {
        let Some(place) = there(root, path)? else { continue };
        let mount = filesystem::copy(&place, Path::new(""), true).map_err(on("protect", path))?;
        let flags = MountFlags { read_only: true, recursive: true, ..MountFlags::default() };
        filesystem::restrict(&mount, flags).map_err(on("protect", path))?;
        filesystem::attach(&mount, place.as_fd()).map_err(on("protect", path))?;
    }
    Ok(())
}

fn there(root: BorrowedFd<'_>, path: &Path) -> Result<Option<OwnedFd>, RunError> {
    match find(root, path, Links::Refused) {
        Ok(place) => Ok(Some(place)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(on("look at", path)(error)),
    }
}
