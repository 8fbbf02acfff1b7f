//! One change, the way back.

use super::ChangeError;
use crate::store::ImageStore;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// How often a folder that fills again is emptied, and how long after.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// How a change is undone. Undoing one that was never made, or was undone already, does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Undo {
    /// Nothing was here.
    Discard(PathBuf),
    /// Nothing was here; only a link to this target goes.
    Unlink { place: PathBuf, target: PathBuf },
    /// What stood at `place` is at `backup`.
    Restore { backup: PathBuf, place: PathBuf },
    /// There was no such folder; it goes if it is empty.
    Folder(PathBuf),
    /// This name led to the image with this id, or to none.
    Tag { tag: String, id: Option<String> },
    /// This name led to the image with this id, or to none, before it was fetched anew.
    Fetched { tag: String, id: Option<String> },
    /// Nothing is undone any more: all changes before are meant.
    Committed,
}

impl Undo {
    /// Undoes the change.
    pub(super) fn apply(&self, store: &dyn ImageStore) -> Result<(), ChangeError> {
        match self {
            Self::Discard(place) => remove_any(place),
            Self::Unlink { place, target } => match fs::read_link(place) {
                Ok(found) if found == *target => remove_any(place),
                _ => Ok(()),
            },
            Self::Restore { backup, place } => restore(backup, place),
            Self::Folder(place) => match fs::remove_dir(place) {
                Err(error) if is_in_use_or_gone(&error) => Ok(()),
                other => other.map_err(|source| ChangeError::io("remove", place, source)),
            },
            Self::Tag { tag, id } => restore_tag(tag, id.as_deref(), store).map(drop),
            Self::Fetched { tag, id } => {
                // What came with it has no other name.
                if let Some(fetched) = restore_tag(tag, id.as_deref(), store)? {
                    let _ = store.drop_nameless(&fetched);
                }
                Ok(())
            }
            Self::Committed => Ok(()),
        }
    }

    /// Clears away what only undoing would have needed.
    pub(super) fn forget(&self, store: &dyn ImageStore) -> Result<(), ChangeError> {
        match self {
            Self::Restore { backup, .. } => remove_any(backup)?,
            // What the store keeps too much does no harm.
            Self::Tag { id: Some(id), .. } => drop(store.drop_nameless(id)),
            _ => {}
        }
        Ok(())
    }

    /// The record in the journal: three fields, each ended by a NUL byte.
    pub(super) fn encode(&self) -> Vec<u8> {
        let (kind, one, other): (&[u8], &OsStr, &OsStr) = match self {
            Self::Discard(place) => (b"discard", place.as_ref(), "".as_ref()),
            Self::Unlink { place, target } => (b"unlink", place.as_ref(), target.as_ref()),
            Self::Restore { backup, place } => (b"restore", backup.as_ref(), place.as_ref()),
            Self::Folder(place) => (b"folder", place.as_ref(), "".as_ref()),
            Self::Tag { tag, id } => (b"tag", tag.as_ref(), id.as_deref().unwrap_or_default().as_ref()),
            Self::Fetched { tag, id } => {
                (b"fetched", tag.as_ref(), id.as_deref().unwrap_or_default().as_ref())
            }
            Self::Committed => (b"committed", "".as_ref(), "".as_ref()),
        };
        [kind, one.as_bytes(), other.as_bytes(), b""].join(&0)
    }

    /// The records of a journal; one that was cut off, whose change never began, is left out.
    pub(super) fn decode(journal: &[u8]) -> Vec<Self> {
        let whole = journal.iter().rposition(|byte| *byte == 0).unwrap_or(0);
        let fields: Vec<&[u8]> = journal[..whole].split(|byte| *byte == 0).collect();
        let path = |field: &[u8]| PathBuf::from(OsStr::from_bytes(field));
        let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
        let id = |field: &[u8]| Some(text(field)).filter(|id| !id.is_empty());
        let records = fields.chunks_exact(3).filter_map(|record| {
            Some(match record[0] {
                b"discard" => Self::Discard(path(record[1])),
                b"unlink" => Self::Unlink { place: path(record[1]), target: path(record[2]) },
                b"restore" => Self::Restore { backup: path(record[1]), place: path(record[2]) },
                b"folder" => Self::Folder(path(record[1])),
                b"tag" => Self::Tag { tag: text(record[1]), id: id(record[2]) },
                b"fetched" => Self::Fetched { tag: text(record[1]), id: id(record[2]) },
                b"committed" => Self::Committed,
                _ => return None,
            })
        });
        records.collect()
    }
}

/// Has a name lead to an image again, or to none; gives the id of the one that had it meanwhile.
fn restore_tag(tag: &str, id: Option<&str>, store: &dyn ImageStore) -> Result<Option<String>, ChangeError> {
    let meanwhile = store.find(tag)?.map(|found| found.id).filter(|found| Some(found.as_str()) != id);
    match (id, &meanwhile) {
        (Some(id), _) => store.tag(id, tag)?,
        (None, Some(_)) => store.untag(tag)?,
        (None, None) => {}
    }
    Ok(meanwhile)
}

fn restore(backup: &Path, place: &Path) -> Result<(), ChangeError> {
    match fs::rename(backup, place) {
        // Of two names of one file rename keeps both.
        Ok(()) => remove_any(backup),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(ChangeError::io("restore", place, source)),
    }
}

/// Removes a file, a link or a whole folder; one that is not there is fine.
pub(super) fn remove_any(path: &Path) -> Result<(), ChangeError> {
    let mut tries = TRIES;
    loop {
        let removed = match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if is_gone(&error) => return Ok(()),
            // The program of a killed process may still write there, but not for long.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && tries > 0 => {
                tries -= 1;
                thread::sleep(PAUSE);
            }
            other => return other.map_err(|source| ChangeError::io("remove", path, source)),
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn is_in_use_or_gone(error: &io::Error) -> bool {
    is_gone(error) || error.kind() == io::ErrorKind::DirectoryNotEmpty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back_and_a_torn_one_is_left_out() {
        let records = [
            Undo::Discard("/a b\nc".into()),
            Undo::Unlink { place: "/x".into(), target: "/y".into() },
            Undo::Restore { backup: "/x".into(), place: "/y".into() },
            Undo::Folder("/d".into()),
            Undo::Tag { tag: "t".into(), id: Some("1".into()) },
            Undo::Tag { tag: "t".into(), id: None },
            Undo::Fetched { tag: "t".into(), id: Some("1".into()) },
            Undo::Committed,
        ];
        let journal: Vec<u8> = records.iter().flat_map(Undo::encode).collect();
        assert_eq!(Undo::decode(&journal), records);
        let last = Undo::Committed.encode().len();
        for cut in 1..=last {
            assert_eq!(Undo::decode(&journal[..journal.len() - cut]), records[..7], "cut {cut}");
        }
        assert!(Undo::decode(b"").is_empty());
    }
}
