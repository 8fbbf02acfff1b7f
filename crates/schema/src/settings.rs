//! The settings file, `flakes.yml`.

use crate::section::{Field, KeyDoc, section};
use crate::words::Period;
use std::path::PathBuf;

section! {
    /// A settings file as written. [`Settings`] is what it means.
    pub struct SettingsFile {
        /// Most mutable instances of one user
        pub instances_per_user("instances-per-user"): u32,
        /// Instances unused for longer are removed before a new one is made; 0s is never
        pub instances_timeout("instances-timeout"): Period,
        /// Places
        pub generic: Generic,
    }
}

section! {
    /// Where things are, as flake-pilot 3.x has it.
    pub struct Generic {
        /// Directory of the registrations
        pub flakes_dir: String,
        /// Directory of the container metadata of flake-pilot 3.x
        pub podman_ids_dir: String,
        /// Directory of the VM metadata of flake-pilot 3.x
        pub firecracker_ids_dir: String,
        /// Storage configuration of podman
        pub podman_storage_conf: String,
    }
}

impl SettingsFile {
    /// Lays `over` above these settings, key by key.
    pub fn merge(&mut self, over: SettingsFile) {
        Field::merge(self, over);
    }

    /// Every key a settings file may have.
    pub fn reference() -> Vec<KeyDoc> {
        let mut keys = Vec::new();
        Self::describe("", &mut keys);
        keys
    }
}

/// The settings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Most mutable instances of one user; 100 unless set.
    pub instances_per_user: u32,
    /// Instances unused for longer are removed before a new one is made; 60 days unless set.
    pub instances_timeout: Period,
    /// Directory of the registrations, when set.
    pub flakes_dir: Option<PathBuf>,
    /// Directory of the container metadata of flake-pilot 3.x, when set.
    pub podman_ids_dir: Option<PathBuf>,
    /// Directory of the VM metadata of flake-pilot 3.x, when set.
    pub firecracker_ids_dir: Option<PathBuf>,
    /// Storage configuration of podman, when set.
    pub podman_storage_conf: Option<PathBuf>,
}

impl From<SettingsFile> for Settings {
    fn from(file: SettingsFile) -> Self {
        let SettingsFile { instances_per_user, instances_timeout, generic } = file;
        let Generic { flakes_dir, podman_ids_dir, firecracker_ids_dir, podman_storage_conf } =
            generic.unwrap_or_default();
        Self {
            instances_per_user: instances_per_user.unwrap_or(100),
            instances_timeout: instances_timeout.unwrap_or(Period::from_secs(60 * 24 * 3600)),
            flakes_dir: flakes_dir.map(PathBuf::from),
            podman_ids_dir: podman_ids_dir.map(PathBuf::from),
            firecracker_ids_dir: firecracker_ids_dir.map(PathBuf::from),
            podman_storage_conf: podman_storage_conf.map(PathBuf::from),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        SettingsFile::default().into()
    }
}
