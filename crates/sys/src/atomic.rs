//! Files that are there whole or not at all.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open, renameat};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file being written beside its place. Dropped before [`Draft::replace`] or [`Draft::create`] it
/// leaves nothing.
#[derive(Debug)]
pub struct Draft {
    file: File,
    temporary: PathBuf,
    place: PathBuf,
    placed: bool,
}

impl Draft {
    /// Starts a file that is to stand at `place`, with these permission bits.
    ///
    /// # Errors
    /// What the kernel says: the folder is missing, not writable, full.
    pub fn new(place: &Path, mode: u32) -> io::Result<Self> {
        let name = place
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a path without a file name"))?;
        for attempt in 0_u32.. {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}.{attempt}", std::process::id()));
            let temporary = place.with_file_name(hidden);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match open(&temporary, flags, Mode::from_raw_mode(0o600)) {
                Ok(descriptor) => {
                    let file = File::from(descriptor);
                    let draft = Self { file, temporary, place: place.to_owned(), placed: false };
                    rustix::fs::fchmod(&draft.file, Mode::from_raw_mode(mode))?;
                    return Ok(draft);
                }
                Err(rustix::io::Errno::EXIST) if attempt < 1000 => {}
                Err(error) => return Err(error.into()),
            }
        }
        unreachable!("the loop ends at its thousandth attempt")
    }

    /// The temporary path, for a program that writes the file itself.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Syncs and puts the file at its place, over whatever is there.
    ///
    /// # Errors
    /// What the kernel says; then nothing stands there that did not before, unless it is the folder that
    /// could not be made durable.
    pub fn replace(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        renameat(CWD, &self.temporary, CWD, &self.place)?;
        self.placed = true;
        sync_folder(&self.place)
    }

    /// Syncs and puts the file at its place, where nothing may be.
    ///
    /// # Errors
    /// `AlreadyExists`, or what the kernel says; then nothing stands there that did not before.
    pub fn create(self) -> io::Result<()> {
        self.file.sync_all()?;
        linkat(CWD, &self.temporary, CWD, &self.place, AtFlags::empty())?;
        sync_folder(&self.place)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.placed {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a whole file over whatever stands at `place`.
///
/// # Errors
/// As for [`Draft`]; on an error the old file is as it was.
pub fn write(place: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut draft = Draft::new(place, mode)?;
    draft.write_all(bytes)?;
    draft.replace()
}

/// Makes a rename or a new name in the folder of `path` durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_dropped_draft_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut draft = Draft::new(&folder.path().join("file"), 0o644).unwrap();
        draft.write_all(b"half").unwrap();
        drop(draft);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn replacing_keeps_the_mode_and_leaves_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("file");
        fs::write(&place, "old").unwrap();
        write(&place, b"new", 0o640).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "new");
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn creating_never_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("file");
        fs::write(&place, "old").unwrap();
        let mut draft = Draft::new(&place, 0o644).unwrap();
        draft.write_all(b"new").unwrap();
        assert_eq!(draft.create().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&place).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
