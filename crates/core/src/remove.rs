//! Removing what registration made, and nothing else.

use crate::host_path::{self, HostPathError, Standing};
use crate::pin;
use crate::place::Places;
use crate::reference::with_tag;
use crate::registry::flake_files;
use crate::store::{ImageStore, StoreError};
use crate::transaction::{ChangeError, Transaction};
use flake_schema::{Engine, FlakeName, Image, LoadError, Loaded, load_flake};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One registration that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The flake's name.
    pub name: FlakeName,
    /// The path of its command, where the flake file could be read.
    pub host_path: Option<PathBuf>,
    /// Something else stands at that path, and stays.
    pub foreign: bool,
}

/// What is gone with an image.
#[derive(Debug, Default)]
pub struct RemovedImage {
    /// The registrations of that image.
    pub registrations: Vec<Removed>,
    /// Whether the image was there.
    pub image: bool,
    /// Flake files that cannot be read, so that nobody knows whose they are.
    pub unreadable: Vec<LoadError>,
}

/// Why nothing was removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// The path cannot be a command's.
    #[error(transparent)]
    Path(#[from] HostPathError),
    /// Nothing is registered there.
    #[error("{} is not a registered command", .0.display())]
    NotRegistered(PathBuf),
    /// The name is registered, with another path.
    #[error("{name} is registered as {}, not as {}", at.display(), asked.display())]
    Elsewhere {
        /// The name.
        name: FlakeName,
        /// The path of its command.
        at: PathBuf,
        /// The path that was asked for.
        asked: PathBuf,
    },
    /// A folder has the name of a flake file.
    #[error("{} is a folder, not a registration", .0.display())]
    Folder(PathBuf),
    /// Something else stands at the path.
    #[error("{} is not a link to the launcher", .0.display())]
    Foreign(PathBuf),
    /// Neither an image nor a registration of it.
    #[error("there is no image {0} here, and nothing is registered of it")]
    NoImage(String),
    /// Instances of the image live.
    #[error("image {image} is in use by {}", instances.join(", "))]
    InUse {
        /// The image.
        image: String,
        /// The instances.
        instances: Vec<String>,
    },
    /// The flake file cannot be read.
    #[error(transparent)]
    Load(Box<LoadError>),
    /// A change failed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl From<StoreError> for RemoveError {
    fn from(error: StoreError) -> Self {
        Self::Change(error.into())
    }
}

/// Removes the registration of a command. With `force` it need not be readable, and may be there in part; what else
/// stands at the path stays in any case.
///
/// # Errors
/// [`RemoveError`]; then nothing has changed.
pub fn command(
    path: &Path,
    places: &Places,
    store: &dyn ImageStore,
    force: bool,
) -> Result<Removed, RemoveError> {
    let (path, name) = host_path::command(path)?;
    let look_failed = |source| ChangeError::io("look at", &path, source);
    let standing = host_path::standing(&path).map_err(look_failed)?;
    let file = places.flake_file(&name);
    let found = fs::symlink_metadata(&file).ok();
    if found.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(RemoveError::Folder(file));
    }
    if found.is_none() && !(force && standing == Standing::Command) {
        return Err(RemoveError::NotRegistered(path));
    }
    if found.is_some() {
        match load_flake(&file) {
            Ok(loaded) if !host_path::is_same(&loaded.flake.host_path, &path) => {
                let at = loaded.flake.host_path;
                return Err(RemoveError::Elsewhere { name, at, asked: path });
            }
            Err(error) if !force => return Err(RemoveError::Load(Box::new(error))),
            _ => {}
        }
    }
    let foreign = matches!(standing, Standing::Foreign | Standing::Folder);
    if foreign && !force {
        return Err(RemoveError::Foreign(path));
    }
    let mut changes = Transaction::begin(&places.flakes_dir, places.folder_mode(), store)?;
    let removed = take(&name, Some(path), places, &mut changes)?;
    changes.commit()?;
    Ok(removed)
}

/// The flakes of an image, which [`image`] removes.
///
/// # Errors
/// [`RemoveError`].
pub fn of_image(image: &str, places: &Places, store: &dyn ImageStore) -> Result<Vec<FlakeName>, RemoveError> {
    let id = store.find(image)?.map(|found| found.id);
    let (owners, _) = owners(image, id.as_deref(), places, store)?;
    Ok(owners.into_iter().map(|loaded| loaded.name).collect())
}

/// Removes all registrations of an image, and the image. With `force` also when instances of it live; they end.
///
/// # Errors
/// [`RemoveError`]; then nothing has changed.
pub fn image(
    image: &str,
    places: &Places,
    store: &dyn ImageStore,
    force: bool,
) -> Result<RemovedImage, RemoveError> {
    let id = store.find(image)?.map(|found| found.id);
    let (owners, unreadable) = owners(image, id.as_deref(), places, store)?;
    let mut removed = RemovedImage { image: id.is_some(), unreadable, ..RemovedImage::default() };
    if owners.is_empty() && id.is_none() {
        return Err(RemoveError::NoImage(image.to_owned()));
    }
    if let (Some(id), false) = (&id, force) {
        let instances = store.instances(id)?;
        if !instances.is_empty() {
            return Err(RemoveError::InUse { image: image.to_owned(), instances });
        }
    }
    if owners.is_empty() {
        id.map_or(Ok(()), |id| store.remove(&id))?;
        return Ok(removed);
    }
    let mut changes = Transaction::begin(&places.flakes_dir, places.folder_mode(), store)?;
    for loaded in owners {
        let path = loaded.flake.host_path;
        removed.registrations.push(take(&loaded.name, Some(path), places, &mut changes)?);
    }
    if let Some(id) = id {
        store.remove(&id)?;
    }
    changes.commit()?;
    Ok(removed)
}

/// The link first: without it nobody calls what is about to go.
fn take(
    name: &FlakeName,
    host_path: Option<PathBuf>,
    places: &Places,
    changes: &mut Transaction<'_>,
) -> Result<Removed, ChangeError> {
    let mut foreign = false;
    if let Some(path) = &host_path {
        let failed = |source| ChangeError::io("look at", path, source);
        match host_path::standing(path).map_err(failed)? {
            Standing::Command => changes.take(path)?,
            Standing::Nothing => {}
            Standing::Folder | Standing::Foreign => foreign = true,
        }
    }
    changes.take(&places.flake_file(name))?;
    changes.take(&places.layers_dir(name))?;
    changes.take(&places.archive(name))?;
    changes.take(&places.plan_file(name, places.scope))?;
    pin::release(name, places, changes)?;
    Ok(Removed { name: name.clone(), host_path, foreign })
}

/// The flakes of an image, and the files that cannot be read.
fn owners(
    image: &str,
    id: Option<&str>,
    places: &Places,
    store: &dyn ImageStore,
) -> Result<(Vec<Loaded>, Vec<LoadError>), RemoveError> {
    let (mut owners, mut unreadable) = (Vec::new(), Vec::new());
    let mut ids = BTreeMap::new();
    let files = flake_files(&places.flakes_dir)
        .map_err(|source| ChangeError::io("read", &places.flakes_dir, source))?;
    for file in files {
        match load_flake(&file) {
            Ok(loaded) => {
                if is_of(&loaded, image, id, store, &mut ids)? {
                    owners.push(loaded);
                }
            }
            Err(error) => unreadable.push(error),
        }
    }
    Ok((owners, unreadable))
}

/// Whether a flake is of an image, whatever name it has for it.
fn is_of(
    loaded: &Loaded,
    image: &str,
    id: Option<&str>,
    store: &dyn ImageStore,
    ids: &mut BTreeMap<String, Option<String>>,
) -> Result<bool, StoreError> {
    let Image::Container { name, .. } = &loaded.flake.image else { return Ok(false) };
    if loaded.flake.engine != Engine::Podman {
        return Ok(false);
    }
    if with_tag(name) == with_tag(image) {
        return Ok(true);
    }
    if !ids.contains_key(name) {
        ids.insert(name.clone(), store.find(name)?.map(|found| found.id));
    }
    Ok(id.is_some() && ids.get(name).and_then(Option::as_deref) == id)
}

#[cfg(test)]
mod tests;
