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
    /// What registries have.
    pub(crate) registry: BTreeMap<String, String>,
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
        Ok(self.id(image).map(|id| {
            let names = self.names.borrow();
            let names = names.iter().filter(|(_, known)| **known == id).map(|(name, _)| name.clone());
            StoredImage { has_command: id != "mute", names: names.collect(), digests: Vec::new(), id }
        }))
    }

    fn fetch(&self, reference: &str) -> Result<(), StoreError> {
        let Some(id) = self.registry.get(reference) else {
            return Err(StoreError::Failed(format!("no registry has {reference}").into()));
        };
        if let Some(old) = self.names.borrow_mut().insert(reference.to_owned(), id.clone()) {
            self.nameless.borrow_mut().push(old);
        }
        Ok(())
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
