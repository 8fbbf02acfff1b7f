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
    /// Its names, whole and with their tags.
    pub names: Vec<String>,
    /// The digests of the manifests it came with, `sha256:...`; the one it was last fetched by is the first.
    pub digests: Vec<String>,
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

    /// Fetches the newest image of a reference from where it comes from.
    ///
    /// # Errors
    /// The engine's failure.
    fn fetch(&self, reference: &str) -> Result<(), StoreError>;

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
pub(crate) mod memory;
