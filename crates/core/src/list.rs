//! What is registered.

use crate::place::Scope;
use crate::registry::Registry;
use flake_schema::{LoadError, Loaded, load_flake};
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

/// All registrations that a caller can call, the system's first, by name.
///
/// # Errors
/// A folder cannot be read.
pub fn list(registry: &Registry) -> io::Result<Vec<Listed>> {
    let files = registry.files()?;
    Ok(files
        .into_iter()
        .map(|(scope, file)| Listed {
            name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            loaded: load_flake(&file).map_err(Box::new),
            file,
            scope,
        })
        .collect())
}
