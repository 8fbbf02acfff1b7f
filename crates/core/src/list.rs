//! What is registered.

use crate::place::{Places, Scope};
use crate::registry::{Registry, flake_files};
use flake_schema::{LoadError, Loaded, load_flake};
use flake_sys::reason::reason;
use std::io;
use std::path::PathBuf;

/// A registration, readable or not.
#[derive(Debug)]
pub struct Listed {
    /// The flake's name, from its file's.
    pub name: String,
    /// The flake file.
    pub file: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// What it says.
    pub loaded: Result<Loaded, Box<LoadError>>,
}

/// A folder of registrations that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {}", folder.display(), reason(source))]
pub struct ListError {
    /// The folder.
    pub folder: PathBuf,
    /// Why not.
    pub source: io::Error,
}

/// All registrations that a caller can call, the system's first, by name.
///
/// # Errors
/// [`ListError`]; a folder that does not exist is empty.
pub fn list(registry: &Registry) -> Result<Vec<Listed>, ListError> {
    let mut listed = list_in(&registry.system)?;
    if let Some(own) = &registry.user {
        listed.extend(list_in(own)?);
    }
    Ok(listed)
}

/// The registrations of one scope, by name.
///
/// # Errors
/// As for [`list`].
pub fn list_in(places: &Places) -> Result<Vec<Listed>, ListError> {
    let folder = &places.flakes_dir;
    let files = flake_files(folder).map_err(|source| ListError { folder: folder.clone(), source })?;
    let listed = files.into_iter().map(|file| Listed {
        name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        loaded: load_flake(&file).map_err(Box::new),
        file,
        scope: places.scope,
    });
    Ok(listed.collect())
}
