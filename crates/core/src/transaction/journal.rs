//! What was changed so far, on disk, so that a later process can undo it: this one may be killed.

use super::ChangeError;
use super::undo::Undo;
use flake_sys::interrupt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const NAME: &str = ".flake-journal";

/// The journal of one folder of registrations. Its lock is the lock on the folder; held as long as the value lives.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Waits for other changes of this folder to end, and gives what the last one left undone.
    pub(super) fn open(folder: &Path) -> Result<(Self, Vec<Undo>), ChangeError> {
        let path = folder.join(NAME);
        let failed = |source| ChangeError::io("write", &path, source);
        let mut file = loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let file = options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
            let file = file.open(&path).map_err(failed)?;
            match file.lock() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => super::go_on()?,
                locked => locked.map_err(failed)?,
            }
            // The one that was waited for removes the file with its lock on it.
            if fs::symlink_metadata(&path).is_ok_and(|now| is_same(&now, &file)) {
                break file;
            }
        };
        let mut records = Vec::new();
        file.read_to_end(&mut records).map_err(failed)?;
        Ok((Self { file, path }, Undo::decode(&records)))
    }

    /// Notes a change before it is made.
    pub(super) fn note(&mut self, undo: &Undo) -> Result<(), ChangeError> {
        self.file
            .write_all(&undo.encode())
            .and_then(|()| self.file.sync_data())
            .map_err(|source| ChangeError::io("write", &self.path, source))
    }

    /// Forgets all notes; the lock stays.
    pub(super) fn clear(&mut self) -> Result<(), ChangeError> {
        self.file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)).map(drop))
            .map_err(|source| ChangeError::io("write", &self.path, source))
    }

    /// Removes the journal: nothing is left to undo.
    pub(super) fn close(self) {
        // Cleared first: should the removal fail, an empty journal says the same.
        let mut journal = self;
        if interrupt::held(|| journal.clear()).is_ok() {
            let _ = fs::remove_file(&journal.path);
        }
    }
}

fn is_same(named: &fs::Metadata, open: &File) -> bool {
    open.metadata().is_ok_and(|open| (open.dev(), open.ino()) == (named.dev(), named.ino()))
}
