//! Podman's images, as registering and removing need them.

use flake_core::store::{FileInImage, ImageStore, StoreError, StoredImage};
use flake_tools::ToolError;
use flake_tools::podman::{ImageFile, Podman};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The caller's podman; looked for at its first use, since much goes without.
#[derive(Debug)]
pub(crate) struct PodmanStore {
    storage_conf: Option<PathBuf>,
    podman: OnceCell<Podman>,
}

impl PodmanStore {
    pub(crate) fn new(storage_conf: Option<PathBuf>) -> Self {
        Self { storage_conf, podman: OnceCell::new() }
    }

    /// The program, of a version that is supported.
    pub(crate) fn podman(&self) -> Result<&Podman, ToolError> {
        if let Some(podman) = self.podman.get() {
            return Ok(podman);
        }
        let podman = Podman::find()?.with_storage_conf(self.storage_conf.as_deref());
        podman.check_version()?;
        Ok(self.podman.get_or_init(|| podman))
    }
}

impl ImageStore for PodmanStore {
    fn find(&self, image: &str) -> Result<Option<StoredImage>, StoreError> {
        let podman = self.podman().map_err(failed)?;
        match podman.image_inspect(image) {
            Ok(found) => Ok(Some(StoredImage {
                has_command: found.has_command(),
                digests: found.digests(),
                names: found.repo_tags.unwrap_or_default(),
                id: found.id,
            })),
            Err(error @ ToolError::Failed { .. }) => match podman.image_exists(image).map_err(failed)? {
                true => Err(failed(error)),
                false => Ok(None),
            },
            Err(error) => Err(failed(error)),
        }
    }

    fn fetch(&self, reference: &str) -> Result<(), StoreError> {
        self.podman().and_then(|podman| podman.fetch(reference)).map_err(failed)
    }

    fn tag(&self, image: &str, tag: &str) -> Result<(), StoreError> {
        self.podman().and_then(|podman| podman.tag(image, tag)).map_err(failed)
    }

    fn untag(&self, tag: &str) -> Result<(), StoreError> {
        self.podman().and_then(|podman| podman.untag(tag)).map_err(failed)
    }

    fn drop_nameless(&self, id: &str) -> Result<(), StoreError> {
        let podman = self.podman().map_err(failed)?;
        let image = podman.image_inspect(id).map_err(failed)?;
        if image.repo_tags.is_some_and(|names| !names.is_empty()) {
            return Ok(());
        }
        podman.remove_unused_image(id).map_err(failed)
    }

    fn save(&self, image: &str, file: &Path, scratch: &Path) -> Result<(), StoreError> {
        self.podman().and_then(|podman| podman.save(image, file, scratch)).map_err(failed)
    }

    fn read(&self, image: &str, name: &str, most: u64) -> Result<FileInImage, StoreError> {
        let read = self.podman().and_then(|podman| podman.read_image_file(image, name, most));
        Ok(match read.map_err(failed)? {
            ImageFile::Content(content) => FileInImage::Content(content),
            ImageFile::Missing => FileInImage::Missing,
            ImageFile::TooLarge => FileInImage::TooLarge,
            ImageFile::NotAFile => FileInImage::NotAFile,
        })
    }

    fn instances(&self, image: &str) -> Result<Vec<String>, StoreError> {
        let containers = self.podman().and_then(|podman| podman.containers_of_image(image));
        let containers = containers.map_err(failed)?;
        Ok(containers.iter().map(|container| container.id.chars().take(12).collect()).collect())
    }

    fn remove(&self, image: &str) -> Result<(), StoreError> {
        self.podman().and_then(|podman| podman.remove_image(image)).map_err(failed)
    }
}

fn failed(error: ToolError) -> StoreError {
    match error {
        ToolError::Interrupted(signal) => StoreError::Interrupted(signal),
        error => StoreError::Failed(Box::new(error)),
    }
}
