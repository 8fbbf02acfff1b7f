//! Changes of files, links and image names that are all made or not at all.
//!
//! Each step notes how it is undone, in memory and in a journal on disk, before it changes anything. A transaction
//! that is dropped undoes its steps, the last one first; what a killed process left is undone by the next
//! transaction in the same folder. Nothing is ever written in place: what is new comes to stand by a rename, what
//! was there before stays beside it under a name that ends in `.flake-old` until all is done.

mod error;
mod folders;
mod journal;
mod undo;

pub use error::ChangeError;

use crate::store::ImageStore;
use flake_sys::interrupt;
use journal::Journal;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use undo::{Undo, remove_any};

const NEW: &str = "flake-new";
const OLD: &str = "flake-old";

/// Steps that belong together.
pub struct Transaction<'a> {
    /// Absent when all is done or undone.
    journal: Option<Journal>,
    undo: Vec<Undo>,
    /// Folders that were made to hold the journal, the outermost first; they go if they stay empty.
    made: Vec<PathBuf>,
    store: &'a dyn ImageStore,
    /// Whether an earlier transaction was found half done, and undone.
    pub recovered: bool,
}

impl std::fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").field("undo", &self.undo).finish_non_exhaustive()
    }
}

impl<'a> Transaction<'a> {
    /// Begins in a folder, which is made with these permission bits where it is absent. Waits for another
    /// transaction there to end.
    ///
    /// # Errors
    /// [`ChangeError`]; also that what a killed process left cannot be undone.
    pub fn begin(folder: &Path, mode: u32, store: &'a dyn ImageStore) -> Result<Self, ChangeError> {
        let mut made = Vec::new();
        let opened = folders::make(folder, mode, |path| {
            made.push(path.to_owned());
            Ok(())
        })
        .and_then(|()| Journal::open(folder));
        let (journal, left) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                folders::remove_empty(&made);
                return Err(error);
            }
        };
        let mut begun = Self { journal: None, undo: Vec::new(), made, store, recovered: !left.is_empty() };
        recover(&left, store)?;
        let journal = begun.journal.insert(journal);
        journal.clear()?;
        Ok(begun)
    }

    /// The store whose names are changed.
    #[must_use]
    pub fn store(&self) -> &'a dyn ImageStore {
        self.store
    }

    /// Makes a folder and those above it.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn make_folders(&mut self, folder: &Path, mode: u32) -> Result<(), ChangeError> {
        go_on()?;
        folders::make(folder, mode, |path| self.note(Undo::Folder(path.to_owned())))
    }

    /// Puts a file at a place, over a file that is there. `fill` writes it, under another name.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn put_file(
        &mut self,
        place: &Path,
        mode: u32,
        fill: impl FnOnce(&Path) -> Result<(), ChangeError>,
    ) -> Result<(), ChangeError> {
        go_on()?;
        let draft = beside(place, NEW);
        let failed = |source| ChangeError::io("write", place, source);
        remove_any(&draft)?;
        self.note(Undo::Discard(draft.clone()))?;
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
        fill(&draft)?;
        let file = File::open(&draft).map_err(failed)?;
        file.set_permissions(Permissions::from_mode(mode)).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        self.set_aside(place, Undo::Discard(place.to_owned()))?;
        fs::rename(&draft, place).map_err(failed)
    }

    /// Puts a link at a place, over a file or link that is there.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn put_link(&mut self, place: &Path, target: &Path) -> Result<(), ChangeError> {
        go_on()?;
        let draft = beside(place, NEW);
        let failed = |source| ChangeError::io("make", place, source);
        remove_any(&draft)?;
        self.note(Undo::Discard(draft.clone()))?;
        symlink(target, &draft).map_err(failed)?;
        self.set_aside(place, Undo::Unlink { place: place.to_owned(), target: target.to_owned() })?;
        fs::rename(&draft, place).map_err(failed)
    }

    /// Lets something use an empty folder, which is gone afterwards.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn with_scratch(
        &mut self,
        place: &Path,
        work: impl FnOnce(&mut Self, &Path) -> Result<(), ChangeError>,
    ) -> Result<(), ChangeError> {
        go_on()?;
        remove_any(place)?;
        self.note(Undo::Discard(place.to_owned()))?;
        folders::make_one(place, 0o700).map_err(|source| ChangeError::io("make", place, source))?;
        work(self, place)?;
        remove_any(place)
    }

    /// Takes a file, a link or a folder away; one that is not there is fine.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn take(&mut self, place: &Path) -> Result<(), ChangeError> {
        go_on()?;
        if fs::symlink_metadata(place).is_err() {
            return Ok(());
        }
        let backup = self.reserve(place)?;
        fs::rename(place, &backup).map_err(|source| ChangeError::io("remove", place, source))
    }

    /// Gives an image a name, taken from another image where it has it.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn tag(&mut self, image: &str, tag: &str) -> Result<(), ChangeError> {
        go_on()?;
        let id = self.store.find(tag)?.map(|image| image.id);
        self.note(Undo::Tag { tag: tag.to_owned(), id })?;
        Ok(self.store.tag(image, tag)?)
    }

    /// Has a reference lead to the newest image of where it comes from; `id` is that of the image it leads to now.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn fetch(&mut self, reference: &str, id: Option<&str>) -> Result<(), ChangeError> {
        go_on()?;
        self.note(Undo::Fetched { tag: reference.to_owned(), id: id.map(str::to_owned) })?;
        Ok(self.store.fetch(reference)?)
    }

    /// Takes a name from an image; one that is not there is fine.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn untag(&mut self, tag: &str) -> Result<(), ChangeError> {
        go_on()?;
        let Some(image) = self.store.find(tag)? else { return Ok(()) };
        self.note(Undo::Tag { tag: tag.to_owned(), id: Some(image.id) })?;
        Ok(self.store.untag(tag)?)
    }

    /// Makes all steps final.
    ///
    /// # Errors
    /// [`ChangeError`]; then all are undone.
    pub fn commit(mut self) -> Result<(), ChangeError> {
        go_on()?;
        self.sync()?;
        let Some(journal) = &mut self.journal else { return Ok(()) };
        journal.note(&Undo::Committed)?;
        // What cannot be cleared away now is the next transaction's: the journal stays for it.
        let cleared = interrupt::held(|| finish(&self.undo, self.store));
        if let (Some(journal), Ok(())) = (self.journal.take(), cleared) {
            journal.close();
            folders::remove_empty(&self.made);
        }
        Ok(())
    }

    /// Undoes all steps, and gives what could not be undone.
    #[must_use]
    pub fn roll_back(mut self) -> Vec<ChangeError> {
        self.undo_all()
    }

    fn undo_all(&mut self) -> Vec<ChangeError> {
        let Some(journal) = self.journal.take() else { return Vec::new() };
        let store = self.store;
        let undo = std::mem::take(&mut self.undo);
        let left: Vec<_> =
            interrupt::held(|| undo.iter().rev().filter_map(|step| step.apply(store).err()).collect());
        if left.is_empty() {
            journal.close();
            folders::remove_empty(&self.made);
        }
        left
    }

    /// Notes how the next change is undone.
    fn note(&mut self, undo: Undo) -> Result<(), ChangeError> {
        if let Some(journal) = &mut self.journal {
            journal.note(&undo)?;
        }
        self.undo.push(undo);
        Ok(())
    }

    /// Keeps what stands at a place under another name as well; `absent` undoes the change where nothing does.
    fn set_aside(&mut self, place: &Path, absent: Undo) -> Result<(), ChangeError> {
        match fs::symlink_metadata(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.note(absent),
            Err(source) => return Err(ChangeError::io("look at", place, source)),
            Ok(found) if found.is_dir() => {
                return Err(ChangeError::io("replace", place, io::ErrorKind::IsADirectory.into()));
            }
            Ok(_) => {}
        }
        let backup = self.reserve(place)?;
        // A second name leaves no moment without the file; not every file system or owner allows it.
        fs::hard_link(place, &backup)
            .or_else(|_| fs::rename(place, &backup))
            .map_err(|source| ChangeError::io("replace", place, source))
    }

    /// A free name beside a place, noted as the one to restore from.
    fn reserve(&mut self, place: &Path) -> Result<PathBuf, ChangeError> {
        let backup = beside(place, OLD);
        remove_any(&backup)?;
        self.note(Undo::Restore { backup: backup.clone(), place: place.to_owned() })?;
        Ok(backup)
    }

    /// Makes the renames durable.
    fn sync(&self) -> Result<(), ChangeError> {
        let mut folders: Vec<&Path> = self
            .undo
            .iter()
            .filter_map(|step| match step {
                Undo::Discard(place)
                | Undo::Unlink { place, .. }
                | Undo::Restore { place, .. }
                | Undo::Folder(place) => place.parent(),
                Undo::Tag { .. } | Undo::Fetched { .. } | Undo::Committed => None,
            })
            .collect();
        folders.sort_unstable();
        folders.dedup();
        for folder in folders {
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(|source| ChangeError::io("write", folder, source))?;
        }
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let _ = self.undo_all();
    }
}

/// Makes a folder and those above it, with these permission bits, outside of any transaction.
///
/// # Errors
/// [`ChangeError`].
pub fn make_folders(folder: &Path, mode: u32) -> Result<(), ChangeError> {
    folders::make(folder, mode, |_| Ok(()))
}

/// Undoes, or finishes, what a killed process left.
fn recover(left: &[Undo], store: &dyn ImageStore) -> Result<(), ChangeError> {
    if left.last() == Some(&Undo::Committed) {
        return finish(left, store);
    }
    for step in left.iter().rev() {
        let undone = step.apply(store);
        // A store that is gone meanwhile must not stand in the way; a name too much in it does no harm.
        if !matches!(step, Undo::Tag { .. } | Undo::Fetched { .. })
            || undone.as_ref().is_err_and(|error| error.signal().is_some())
        {
            undone?;
        }
    }
    Ok(())
}

fn finish(steps: &[Undo], store: &dyn ImageStore) -> Result<(), ChangeError> {
    steps.iter().try_for_each(|step| step.forget(store))
}

/// Fails when this process was asked to stop.
pub(crate) fn go_on() -> Result<(), ChangeError> {
    interrupt::pending().map_or(Ok(()), |signal| Err(ChangeError::Interrupted(signal)))
}

/// `/a/b` as `/a/.b.ENDING`.
fn beside(place: &Path, ending: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(".");
    name.push(ending);
    place.with_file_name(name)
}

#[cfg(test)]
mod tests;
