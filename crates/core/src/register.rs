//! Registering: from a complete flake file to a command that can be called.

use crate::host_path::{self, Standing};
use crate::pin;
use crate::place::{Places, Scope, pinned_tag};
use crate::store::{ImageStore, StoreError};
use crate::transaction::{ChangeError, Transaction};
use flake_schema::{
    Flake, FlakeFile, FlakeName, Image, LoadError, Loaded, Problem, Target, WriteError, load_flake,
};
use std::fs;
use std::path::{Path, PathBuf};

/// What is to be registered.
#[derive(Debug, Clone)]
pub struct Request {
    /// The flake file, complete.
    pub file: FlakeFile,
    /// The command's path on the host, as [`host_path::command`] gives it.
    pub host_path: PathBuf,
    /// The flake's name.
    pub name: FlakeName,
    /// The launcher that the command links to.
    pub launcher: PathBuf,
    /// Names that no command may have, wherever it is: what registering and launching stand on is found by them.
    pub reserved: &'static [&'static str],
    /// Replace what is registered under that name and what stands at that path.
    pub replace: bool,
}

/// What was registered.
#[derive(Debug, Clone)]
pub struct Registered {
    /// As it was read back, with the layers that lay there.
    pub loaded: Loaded,
    /// The flake file.
    pub file: PathBuf,
    /// Layers of the replaced registration, which are gone.
    pub dropped: Vec<PathBuf>,
    /// An earlier registration that was cut off was undone first.
    pub recovered: bool,
}

/// Why nothing was registered.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The flake breaks rules.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Problem>),
    /// An image is not in the store.
    #[error("there is no image {0} here")]
    NoImage(String),
    /// The image does not say what a call runs.
    #[error("image {0} has neither an entrypoint nor a command, so `/` runs nothing")]
    NoCommand(String),
    /// Something else stands at the command's path.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// A folder stands there.
    #[error("{} is a folder", .0.display())]
    Folder(PathBuf),
    /// The product needs the program of that name.
    #[error("no command can be named {0}, flakes are run by it")]
    Reserved(FlakeName),
    /// The name is taken.
    #[error("{name} is registered already{}", at.as_ref().map(|at| format!(", as {}", at.display())).unwrap_or_default())]
    Registered {
        /// The name.
        name: String,
        /// The path of its command, where its file can be read.
        at: Option<PathBuf>,
    },
    /// Layers in `NAME.d` make another flake of it.
    #[error("{} changes the path of the command", .0.display())]
    Layers(PathBuf),
    /// The flake file cannot be written as text.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The flake does not load with the layers that are there.
    #[error(transparent)]
    Load(Box<LoadError>),
    /// A change failed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// It failed, and something of it could not be undone; the next registration tries again.
    #[error("{reason}; and could not be undone: {}", left.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Left {
        /// Why it failed.
        reason: Box<RegisterError>,
        /// What could not be undone.
        left: Vec<ChangeError>,
    },
}

impl From<StoreError> for RegisterError {
    fn from(error: StoreError) -> Self {
        Self::Change(error.into())
    }
}

/// Registers a flake in a scope's places. Either all of it is there afterwards or nothing has changed, also when the
/// process is asked to stop meanwhile.
///
/// # Errors
/// [`RegisterError`].
pub fn register(
    request: &Request,
    places: &Places,
    store: &dyn ImageStore,
) -> Result<Registered, RegisterError> {
    if request.reserved.contains(&request.name.as_str()) {
        return Err(RegisterError::Reserved(request.name.clone()));
    }
    let flake = request.file.resolve().map_err(RegisterError::Invalid)?;
    check_images(&flake, store)?;
    let text = request.file.to_yaml()?;
    let mut changes = Transaction::begin(&places.flakes_dir, places.folder_mode(), store)?;
    let recovered = changes.recovered;
    match steps(request, &flake, &text, places, &mut changes) {
        Ok((loaded, dropped)) => {
            changes.commit()?;
            Ok(Registered { loaded, file: places.flake_file(&request.name), dropped, recovered })
        }
        Err(reason) => match changes.roll_back() {
            left if left.is_empty() => Err(reason),
            left => Err(RegisterError::Left { reason: Box::new(reason), left }),
        },
    }
}

/// Every image is there, and says what it runs where it has to.
fn check_images(flake: &Flake, store: &dyn ImageStore) -> Result<(), RegisterError> {
    let Image::Container { name, base, layers, .. } = &flake.image else { return Ok(()) };
    for image in base.iter().chain(layers).chain([name]) {
        let found = store.find(image)?.ok_or_else(|| RegisterError::NoImage(image.clone()))?;
        if image == name && flake.target == Target::Entrypoint && !found.has_command {
            return Err(RegisterError::NoCommand(name.clone()));
        }
    }
    Ok(())
}

/// The changes; the link comes last, since it is what makes the command.
fn steps(
    request: &Request,
    flake: &Flake,
    text: &str,
    places: &Places,
    changes: &mut Transaction<'_>,
) -> Result<(Loaded, Vec<PathBuf>), RegisterError> {
    let Request { name, host_path, .. } = request;
    let file = places.flake_file(name);
    let former = former(request, places)?;
    check_host_path(request)?;
    if let Some(folder) = host_path.parent() {
        changes.make_folders(folder, 0o755)?;
    }
    match pin::image_of(flake) {
        Some(image) => pin::hold(image, name, places, changes)?,
        None if former.is_some() => pin::release(name, places, changes)?,
        None => {}
    }
    if is_archived(flake, places) {
        archive(name, places, changes)?;
    } else if former.is_some() {
        changes.take(&places.archive(name))?;
    }
    changes.take(&places.plan_file(name, places.scope))?;
    let layers = places.layers_dir(name);
    let mut dropped = Vec::new();
    if former.is_some() {
        dropped = names_in(&layers);
        changes.take(&layers)?;
    }
    changes.make_folders(&layers, places.folder_mode())?;
    changes.put_file(&file, 0o644, |draft| {
        fs::write(draft, text).map_err(|source| ChangeError::io("write", &file, source))
    })?;
    let loaded = load_flake(&file).map_err(|error| RegisterError::Load(Box::new(error)))?;
    if loaded.flake.host_path != *host_path {
        return Err(RegisterError::Layers(layers));
    }
    if let Some(Some(old)) = former
        && !host_path::is_same(&old, host_path)
        && host_path::standing(&old).is_ok_and(|standing| standing == Standing::Command)
    {
        changes.take(&old)?;
    }
    changes.put_link(host_path, &request.launcher)?;
    Ok((loaded, dropped))
}

/// The registration that stands under the name and is to be replaced: the path of its command, where it can be read.
fn former(request: &Request, places: &Places) -> Result<Option<Option<PathBuf>>, RegisterError> {
    let file = places.flake_file(&request.name);
    match fs::symlink_metadata(&file) {
        Err(_) => return Ok(None),
        Ok(found) if found.is_dir() => return Err(RegisterError::Folder(file)),
        Ok(_) => {}
    }
    let at = load_flake(&file).ok().map(|loaded| loaded.flake.host_path);
    if request.replace {
        return Ok(Some(at));
    }
    Err(RegisterError::Registered { name: request.name.to_string(), at })
}

fn check_host_path(request: &Request) -> Result<(), RegisterError> {
    let path = &request.host_path;
    let standing = match host_path::standing(path) {
        // A folder on the way is none: making it says so, better.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Standing::Nothing,
        standing => standing.map_err(|source| ChangeError::io("look at", path, source))?,
    };
    match standing {
        Standing::Folder => Err(RegisterError::Folder(path.clone())),
        Standing::Command | Standing::Foreign if !request.replace => Err(RegisterError::Exists(path.clone())),
        _ => Ok(()),
    }
}

/// Whether users import the image: that of a system flake which runs as its caller. A composed image is none of
/// these, the parts alone are of no use.
pub(crate) fn is_archived(flake: &Flake, places: &Places) -> bool {
    places.scope == Scope::System && !flake.as_root && pin::image_of(flake).is_some()
}

/// Writes the pinned image where every user can read it.
pub(crate) fn archive(
    name: &FlakeName,
    places: &Places,
    changes: &mut Transaction<'_>,
) -> Result<(), ChangeError> {
    let archive = places.archive(name);
    let folder = archive.parent().unwrap_or(Path::new("/")).to_owned();
    let tag = pinned_tag(name, places.scope);
    let store = changes.store();
    changes.make_folders(&folder, places.folder_mode())?;
    changes.with_scratch(&folder.join(format!(".{name}.flake-scratch")), |changes, scratch| {
        changes.put_file(&archive, 0o644, |draft| Ok(store.save(&tag, draft, scratch)?))
    })
}

/// The files of a folder that is about to go.
fn names_in(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    names.sort();
    names
}

#[cfg(test)]
pub(crate) mod tests;
