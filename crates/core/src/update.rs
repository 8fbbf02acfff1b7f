//! Taking a newer image, or going back to the one before.
//!
//! An image has a name in a registry or only on this host. What has the name now becomes the flake's image; the one
//! that was keeps a tag of its own, so that there is a way back. Going back swaps the two, so doing it twice is as if
//! nothing had been done. Instances that live keep the image they were made of.

use crate::pin::{self, Pin};
use crate::place::{Places, pinned_tag, previous_tag};
use crate::reference;
use crate::register::{archive, is_archived};
use crate::store::{ImageStore, StoreError, StoredImage};
use crate::transaction::{ChangeError, Transaction};
use flake_schema::{FlakeName, Loaded, Target};

/// The image of a flake before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Before; absent when there was none in the store.
    pub before: Option<StoredImage>,
    /// After.
    pub after: StoredImage,
}

impl Change {
    /// Whether it is the same.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.id == self.after.id)
    }
}

/// Why a flake has the image that it had.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// It is not launched from one image as it is.
    #[error("{0} is not made of one container image, which alone can be taken anew")]
    NotPlain(FlakeName),
    /// Nothing has the name, here or where it comes from.
    #[error("there is no image {0} here")]
    NoImage(String),
    /// The newer image does not say what a call runs.
    #[error("the newer image {0} has neither an entrypoint nor a command, so `/` would run nothing")]
    NoCommand(String),
    /// There was no update, or the flake file names another image since.
    #[error("{0} has no image before this one")]
    NoPrevious(FlakeName),
    /// Somebody removed it.
    #[error("the image that {name} had before is gone: {tag}")]
    PreviousGone {
        /// The flake.
        name: FlakeName,
        /// The tag that held it.
        tag: String,
    },
    /// The registry cannot be reached or does not have it.
    #[error("cannot fetch {image}: {reason}")]
    Fetch {
        /// The image.
        image: String,
        /// The engine's failure.
        reason: ChangeError,
    },
    /// A change failed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl From<StoreError> for UpdateError {
    fn from(error: StoreError) -> Self {
        Self::Change(error.into())
    }
}

/// What is known before anything is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// The whole name of the image.
    pub whole: String,
    /// The image the flake has now.
    pub current: Option<StoredImage>,
    /// The image that has the name here.
    pub named: Option<StoredImage>,
}

impl Outlook {
    /// Looks at a flake's images.
    ///
    /// # Errors
    /// [`UpdateError`].
    pub fn of(loaded: &Loaded, places: &Places, store: &dyn ImageStore) -> Result<Self, UpdateError> {
        let name = &loaded.name;
        let Some(image) = pin::image_of(&loaded.flake) else {
            return Err(UpdateError::NotPlain(name.clone()));
        };
        let named = store.find(image)?;
        let current = match pin::image(places, name, image) {
            (tag, _) if tag == image => named.clone(),
            (tag, _) => store.find(&tag)?,
        };
        let names = named.as_ref().map(|found| found.names.as_slice()).unwrap_or_default();
        Ok(Self { whole: reference::whole(image, names), current, named })
    }

    /// Whether a registry may have a newer one.
    #[must_use]
    pub fn comes_from_a_registry(&self) -> bool {
        // An image that is there without that name is meant by its id. Whose a short name is that no image has, nobody
        // knows: a stranger's image must not come in its place.
        let is_name = match &self.named {
            Some(named) => named.names.contains(&self.whole),
            None => reference::is_whole(&self.whole),
        };
        is_name && !reference::is_local(&self.whole) && !reference::is_fixed(&self.whole)
    }
}

/// Takes the newest image of a flake's reference. With `fetch` the registry is asked for it, where there is one.
///
/// # Errors
/// [`UpdateError`]; nothing has changed then, not even which image has the name.
pub fn to_newest(
    loaded: &Loaded,
    fetch: bool,
    places: &Places,
    store: &dyn ImageStore,
) -> Result<Change, UpdateError> {
    let mut changes = Transaction::begin(&places.flakes_dir, places.folder_mode(), store)?;
    // Only now nobody else changes it.
    let outlook = Outlook::of(loaded, places, store)?;
    let image = pin::image_of(&loaded.flake).unwrap_or_default();
    let mut newest = outlook.named.clone();
    if fetch && outlook.comes_from_a_registry() {
        let id = outlook.named.as_ref().map(|named| named.id.as_str());
        changes
            .fetch(&outlook.whole, id)
            .map_err(|reason| UpdateError::Fetch { image: outlook.whole.clone(), reason })?;
        newest = store.find(&outlook.whole)?;
    }
    let newest = newest.ok_or_else(|| UpdateError::NoImage(image.to_owned()))?;
    if loaded.flake.target == Target::Entrypoint && !newest.has_command {
        return Err(UpdateError::NoCommand(image.to_owned()));
    }
    let former = Pin::read(places, &loaded.name).filter(|former| former.reference == image);
    let is_same = outlook.current.as_ref().is_some_and(|current| current.id == newest.id);
    if !is_same || former.as_ref().is_none_or(|former| former.id != newest.id) {
        let previous = match &outlook.current {
            Some(current) if !is_same => Some(current.id.clone()),
            _ => former.and_then(|former| former.previous).filter(|id| *id != newest.id),
        };
        // Somebody may have removed it.
        let previous = match previous {
            Some(id) => store.find(&id)?.map(|found| found.id),
            None => None,
        };
        let pin = Pin { reference: image.to_owned(), id: newest.id.clone(), previous };
        move_to(&pin, loaded, places, &mut changes)?;
    }
    changes.commit()?;
    Ok(Change { before: outlook.current, after: newest })
}

/// Goes back to the image before the last update, and keeps the present one as the one before.
///
/// # Errors
/// [`UpdateError`]; nothing has changed then.
pub fn to_previous(loaded: &Loaded, places: &Places, store: &dyn ImageStore) -> Result<Change, UpdateError> {
    let mut changes = Transaction::begin(&places.flakes_dir, places.folder_mode(), store)?;
    let change = previous(loaded, places, store)?;
    let pin = Pin {
        reference: pin::image_of(&loaded.flake).unwrap_or_default().to_owned(),
        id: change.after.id.clone(),
        previous: change.before.as_ref().map(|before| before.id.clone()),
    };
    move_to(&pin, loaded, places, &mut changes)?;
    changes.commit()?;
    Ok(change)
}

/// What going back would change.
///
/// # Errors
/// [`UpdateError`].
pub fn previous(loaded: &Loaded, places: &Places, store: &dyn ImageStore) -> Result<Change, UpdateError> {
    let name = &loaded.name;
    let image = pin::image_of(&loaded.flake).ok_or_else(|| UpdateError::NotPlain(name.clone()))?;
    let pin = Pin::read(places, name).filter(|pin| pin.reference == image && pin.previous.is_some());
    if pin.is_none() {
        return Err(UpdateError::NoPrevious(name.clone()));
    }
    let tag = previous_tag(name, places.scope);
    let Some(after) = store.find(&tag)? else {
        return Err(UpdateError::PreviousGone { name: name.clone(), tag });
    };
    Ok(Change { before: store.find(&pinned_tag(name, places.scope))?, after })
}

fn move_to(
    pin: &Pin,
    loaded: &Loaded,
    places: &Places,
    changes: &mut Transaction<'_>,
) -> Result<(), ChangeError> {
    pin::put(pin, &loaded.name, places, changes)?;
    if is_archived(&loaded.flake, places) {
        archive(&loaded.name, places, changes)?;
    }
    changes.take(&places.plan_file(&loaded.name, places.scope))
}

#[cfg(test)]
mod tests;
