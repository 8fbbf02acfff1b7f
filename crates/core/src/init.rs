//! A user's own folders and settings, as flake-pilot 3.x lays them out.

use crate::caller::Caller;
use crate::place::Places;
use crate::transaction::ChangeError;
use flake_schema::{Generic, LoadError, SettingsFile, WriteError};
use flake_sys::atomic;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Where flake-pilot 3.x keeps what it knows of running instances.
const IDS_DIR: &str = "/tmp/flakes";

/// What became of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// It was not there.
    Made,
    /// It was there and is as it was.
    Kept,
    /// It was there and is written anew.
    Replaced,
}

/// What was set up.
#[derive(Debug)]
pub struct Setup {
    /// Each path, and what became of it.
    pub paths: Vec<(PathBuf, Became)>,
    /// The storage configuration that podman is to use.
    pub storage_conf: PathBuf,
}

/// Why nothing, or not all, was set up.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The system's settings are wrong.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A path cannot be written as text.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A setting is text.
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// The system refuses.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// Sets up a user's folders and settings; files that are there stay unless `replace`.
///
/// # Errors
/// [`InitError`]. What was made until then stays, and is kept by another try.
pub fn init(caller: &Caller, replace: bool) -> Result<Setup, InitError> {
    let config = caller.home.join(".config");
    let flakes = config.join("flakes");
    let podman = flakes.join("podman");
    let storage_conf = podman.join("storage.conf");
    let system = Places::system()?.settings;
    let text =
        |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| InitError::NotText(path.to_owned()));
    let ids = |set: Option<PathBuf>| text(&set.unwrap_or_else(|| IDS_DIR.into()));
    let settings = SettingsFile {
        generic: Some(Generic {
            flakes_dir: Some(text(&flakes)?),
            podman_ids_dir: Some(ids(system.podman_ids_dir)?),
            firecracker_ids_dir: Some(ids(system.firecracker_ids_dir)?),
            podman_storage_conf: Some(text(&storage_conf)?),
        }),
        ..SettingsFile::default()
    };
    let files =
        [(config.join("flakes.yml"), settings.to_yaml()?), (storage_conf.clone(), storage(&text(&podman)?))];
    let mut paths = Vec::new();
    for folder in [flakes.clone(), podman, flakes.join("firecracker")] {
        let became = make_folder(&folder)?;
        paths.push((folder, became));
    }
    for (file, content) in files {
        let became = write(&file, &content, replace)?;
        paths.push((file, became));
    }
    Ok(Setup { paths, storage_conf })
}

fn make_folder(folder: &Path) -> Result<Became, ChangeError> {
    if folder.is_dir() {
        return Ok(Became::Kept);
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map(|()| Became::Made).map_err(|source| ChangeError::io("make", folder, source))
}

fn write(file: &Path, content: &str, replace: bool) -> Result<Became, ChangeError> {
    let there = fs::symlink_metadata(file).is_ok();
    if there && !replace {
        return Ok(Became::Kept);
    }
    atomic::write(file, content.as_bytes(), 0o644)
        .map_err(|source| ChangeError::io("write", file, source))?;
    Ok(if there { Became::Replaced } else { Became::Made })
}

/// The configuration of a store of its own below the folder. Format: containers-storage.conf(5).
fn storage(folder: &str) -> String {
    let folder = folder.replace('\\', "\\\\").replace('"', "\\\"");
    let root = format!("{folder}/storage");
    format!(
        "[storage]\ndriver = \"overlay\"\ngraphroot = \"{root}\"\nrootless_storage_path = \"{root}\"\n\
         runroot = \"{root}/runroot\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_time_nothing_changes_unless_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let caller = Caller { home: home.path().to_owned(), ..Caller::with_id(0, 0).unwrap() };
        let first = init(&caller, false).unwrap();
        assert!(first.paths.iter().all(|(_, became)| *became == Became::Made), "{first:?}");
        let settings = home.path().join(".config/flakes.yml");
        fs::write(&settings, "instances-per-user: 3\n").unwrap();
        let second = init(&caller, false).unwrap();
        assert!(second.paths.iter().all(|(_, became)| *became == Became::Kept), "{second:?}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), "instances-per-user: 3\n");
        let third = init(&caller, true).unwrap();
        assert_eq!(third.paths.iter().filter(|(_, became)| *became == Became::Replaced).count(), 2);
        let read = flake_schema::load_settings(&[&settings]).unwrap().settings;
        assert_eq!(read.podman_storage_conf, Some(first.storage_conf));
    }
}
