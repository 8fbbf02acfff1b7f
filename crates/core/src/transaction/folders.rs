//! Making folders, and unmaking them.

use super::ChangeError;
use rustix::fs::{Mode, OFlags, fchmod, open};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Makes a folder and those above it; `before` is told of each.
pub(super) fn make(
    folder: &Path,
    mode: u32,
    mut before: impl FnMut(&Path) -> Result<(), ChangeError>,
) -> Result<(), ChangeError> {
    let absent = folder.ancestors().take_while(|path| fs::symlink_metadata(path).is_err());
    let mut absent: Vec<&Path> = absent.filter(|path| !path.as_os_str().is_empty()).collect();
    absent.reverse();
    for path in absent {
        before(path)?;
        match make_one(path, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|source| ChangeError::io("make", path, source))?,
        }
    }
    match fs::metadata(folder) {
        Ok(found) if !found.is_dir() => {
            Err(ChangeError::io("make", folder, io::ErrorKind::NotADirectory.into()))
        }
        found => found.map(drop).map_err(|source| ChangeError::io("make", folder, source)),
    }
}

/// Makes a folder with these permission bits, whatever the caller's mask is: what root registers is for everybody.
pub(super) fn make_one(path: &Path, mode: u32) -> io::Result<()> {
    fs::create_dir(path)?;
    // By descriptor and not through a link: the folder above may be somebody else's, who put one there meanwhile.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(fchmod(open(path, flags, Mode::empty())?, Mode::from_raw_mode(mode))?)
}

/// Removes folders that are still empty, the innermost first.
pub(super) fn remove_empty(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}
