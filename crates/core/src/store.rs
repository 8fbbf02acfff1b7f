//! What registering and removing need of an engine's image store.

use std::error::Error;
use std::path::Path;

/// An image in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredImage {
    /// What identifies its content.
    pub id: String,
    /// Whether it says itself what a call runs.
    pub has_command: bool,
}

/// A file read out of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileInImage {
    /// Its content.
    Content(Vec<u8>),
    /// There is none.
    Missing,
    /// It is larger than asked for.
    TooLarge,
    /// A link, a folder or something else that is not a plain file.
    NotAFile,
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// This process was asked to stop by a signal meanwhile.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
    /// The engine's failure, one line.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

/// The images of one engine. An image is named by a reference, as the engine understands it, or an id.
pub trait ImageStore {
    /// An image, or nothing when the store has none of that name.
    ///
    /// # Errors
    /// The engine's failure.
    fn find(&self, image: &str) -> Result<Option<StoredImage>, StoreError>;

    /// Gives an image one more name, taken from another image where it has it.
    ///
    /// # Errors
    /// The engine's failure.
    fn tag(&self, image: &str, tag: &str) -> Result<(), StoreError>;

    /// Takes a name away; the image stays, also without a name.
    ///
    /// # Errors
    /// The engine's failure.
    fn untag(&self, tag: &str) -> Result<(), StoreError>;

    /// Removes an image that has no name and of which nothing is made; another one stays.
    ///
    /// # Errors
    /// The engine's failure.
    fn drop_nameless(&self, id: &str) -> Result<(), StoreError>;

    /// Writes an image as an archive over `file`. The folder `scratch` takes what is needed meanwhile.
    ///
    /// # Errors
    /// The engine's failure, also that the disk is full.
    fn save(&self, image: &str, file: &Path, scratch: &Path) -> Result<(), StoreError>;

    /// Reads a file in the root of an image, at most `most` bytes of it. Nothing of the image runs.
    ///
    /// # Errors
    /// The engine's failure.
    fn read(&self, image: &str, name: &str, most: u64) -> Result<FileInImage, StoreError>;

    /// The instances made of an image, running or not.
    ///
    /// # Errors
    /// The engine's failure.
    fn instances(&self, image: &str) -> Result<Vec<String>, StoreError>;

    /// Removes an image with all of its names and instances.
    ///
    /// # Errors
    /// The engine's failure.
    fn remove(&self, image: &str) -> Result<(), StoreError>;
}

#[cfg(test)]
pub(crate) mod memory {
    //! A store that keeps names only, and refuses what a real one would.

    use super::{FileInImage, ImageStore, StoreError, StoredImage};
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    /// Names and the ids they lead to. An image without a name is found by its id as long as the value lives.
    #[derive(Debug, Default)]
    pub(crate) struct Memory {
        pub(crate) names: RefCell<BTreeMap<String, String>>,
        pub(crate) nameless: RefCell<Vec<String>>,
        /// Ids with something living.
        pub(crate) used: Vec<String>,
        /// What archives of these ids cannot be written.
        pub(crate) unwritable: Vec<String>,
    }

    impl Memory {
        pub(crate) fn with(names: &[(&str, &str)]) -> Self {
            let names = names.iter().map(|(name, id)| ((*name).to_owned(), (*id).to_owned())).collect();
            Self { names: RefCell::new(names), ..Self::default() }
        }

        fn id(&self, image: &str) -> Option<String> {
            let names = self.names.borrow();
            let known = names.values().chain(&*self.nameless.borrow()).any(|id| id == image);
            names.get(image).cloned().or_else(|| known.then(|| image.to_owned()))
        }

        fn known(&self, image: &str) -> Result<String, StoreError> {
            self.id(image).ok_or_else(|| StoreError::Failed(format!("{image} is not known").into()))
        }
    }

    impl ImageStore for Memory {
        fn find(&self, image: &str) -> Result<Option<StoredImage>, StoreError> {
            Ok(self.id(image).map(|id| StoredImage { has_command: id != "mute", id }))
        }

        fn tag(&self, image: &str, tag: &str) -> Result<(), StoreError> {
            let id = self.known(image)?;
            if let Some(old) = self.names.borrow_mut().insert(tag.to_owned(), id) {
                self.nameless.borrow_mut().push(old);
            }
            Ok(())
        }

        fn untag(&self, tag: &str) -> Result<(), StoreError> {
            let id = self.known(tag)?;
            self.names.borrow_mut().remove(tag);
            self.nameless.borrow_mut().push(id);
            Ok(())
        }

        fn drop_nameless(&self, id: &str) -> Result<(), StoreError> {
            self.nameless.borrow_mut().retain(|known| known != id);
            Ok(())
        }

        fn save(&self, image: &str, file: &Path, scratch: &Path) -> Result<(), StoreError> {
            let id = self.known(image)?;
            let written = fs::write(scratch.join("part"), &id).and_then(|()| fs::write(file, &id));
            match written {
                Ok(()) if !self.unwritable.contains(&id) => Ok(()),
                _ => Err(StoreError::Failed(format!("{id} cannot be written").into())),
            }
        }

        fn read(&self, _: &str, _: &str, _: u64) -> Result<FileInImage, StoreError> {
            Ok(FileInImage::Missing)
        }

        fn instances(&self, image: &str) -> Result<Vec<String>, StoreError> {
            Ok(self.used.iter().filter(|id| *id == image).cloned().collect())
        }

        fn remove(&self, image: &str) -> Result<(), StoreError> {
            let id = self.known(image)?;
            self.names.borrow_mut().retain(|_, known| *known != id);
            self.nameless.borrow_mut().retain(|known| *known != id);
            Ok(())
        }
    }
}
