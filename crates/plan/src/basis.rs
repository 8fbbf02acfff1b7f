//! What a plan was made from. A plan is good as long as all of it is the same.

use flake_schema::Source;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// For how long a failure counts, in seconds: trying again at each call would cost more than the call.
const RETRY: u64 = 60;

/// Variables with which a user chooses podman's configuration and store.
const VARIABLES: [&str; 8] = [
    "CONTAINERS_CONF",
    "CONTAINERS_CONF_OVERRIDE",
    "CONTAINERS_STORAGE_CONF",
    "PODMAN_USERNS",
    "STORAGE_DRIVER",
    "STORAGE_OPTS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];
/// Podman's configuration where no variable names another, system-wide; and in a user's `.config`.
const SYSTEM_FILES: [&str; 8] = [
    "/usr/share/containers/containers.conf",
    "/etc/containers/containers.conf",
    "/usr/share/containers/storage.conf",
    "/etc/containers/storage.conf",
    "/usr/share/containers/seccomp.json",
    "/etc/containers/seccomp.json",
    "/usr/share/containers/mounts.conf",
    "/etc/containers/mounts.conf",
];
const USER_FILES: [&str; 3] =
    ["containers/containers.conf", "containers/storage.conf", "containers/mounts.conf"];
/// Folders with more of it, a file each; hooks change what podman writes for a container.
const SYSTEM_FOLDERS: [&str; 4] = [
    "/usr/share/containers/containers.conf.d",
    "/etc/containers/containers.conf.d",
    "/usr/share/containers/oci/hooks.d",
    "/etc/containers/oci/hooks.d",
];
const USER_FOLDER: &str = "containers/containers.conf.d";
/// What podman makes files of a container from, and whose ids users have.
const HOST_FILES: [&str; 6] = [
    "/etc/hosts",
    "/etc/resolv.conf",
    "/run/systemd/resolve/resolv.conf",
    "/etc/localtime",
    "/etc/subuid",
    "/etc/subgid",
];

/// What a plan was made from, besides the words that podman was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// Files: of the registration, the settings, podman's configuration, the host.
    pub files: Vec<Source>,
    /// The program that made it: another has other defaults. One that is away, as in the middle of an upgrade, is no
    /// other.
    pub program: Option<Source>,
    /// The variables that choose podman's configuration.
    pub variables: Vec<(String, Option<OsString>)>,
    /// The host's name and its kernel's release.
    pub host: (String, String),
    /// Until when it counts, in seconds since 1970; absent: for good.
    pub until: Option<u64>,
}

impl Basis {
    /// As it is now: `files` are those of the registration and the settings, `home` is the user's.
    #[must_use]
    pub fn now(files: impl IntoIterator<Item = Source>, home: &std::path::Path) -> Self {
        let variables: Vec<(String, Option<OsString>)> =
            VARIABLES.iter().map(|name| ((*name).to_owned(), std::env::var_os(name))).collect();
        let config = std::env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        let named = ["CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE", "CONTAINERS_STORAGE_CONF"];
        let folders = SYSTEM_FOLDERS.iter().map(PathBuf::from).chain([config.join(USER_FOLDER)]);
        let paths = SYSTEM_FILES
            .iter()
            .chain(&HOST_FILES)
            .map(PathBuf::from)
            .chain(USER_FILES.iter().map(|file| config.join(file)))
            .chain(named.into_iter().filter_map(std::env::var_os).map(PathBuf::from))
            .chain(folders.flat_map(with_files));
        let looked_at = paths.filter_map(|path| Source::look_at(&path).ok());
        let files = files.into_iter().chain(looked_at).collect();
        Self { files, program: None, variables, host: host(), until: None }
    }

    /// With the program that makes it.
    #[must_use]
    pub fn with_program(self, path: &std::path::Path) -> Self {
        Self { program: Source::look_at(path).ok(), ..self }
    }

    /// Counts for a minute from now on: what came of it may not come of it again.
    #[must_use]
    pub fn for_a_while(self) -> Self {
        Self { until: Some(now() + RETRY), ..self }
    }

    /// Whether all of it is as it was.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        // Also where somebody has set the clock back.
        self.until.is_none_or(|until| (1..=RETRY).contains(&until.saturating_sub(now())))
            && self.variables.iter().all(|(name, value)| std::env::var_os(name) == *value)
            && self.host == host()
            && self.files.iter().all(|file| file.is_unchanged().unwrap_or(false))
            && self
                .program
                .as_ref()
                .is_none_or(|program| program.is_unchanged().unwrap_or(false) || !program.path.exists())
    }
}

/// A folder and the files in it.
fn with_files(folder: PathBuf) -> Vec<PathBuf> {
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = files.collect();
    paths.sort();
    paths.push(folder);
    paths
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The host's name and its kernel's release.
fn host() -> (String, String) {
    let names = rustix::system::uname();
    (names.nodename().to_string_lossy().into_owned(), names.release().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_is_a_change_and_none_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("podman");
        std::fs::write(&program, "one").unwrap();
        let basis = Basis::now([], std::path::Path::new("/")).with_program(&program);
        assert!(basis.is_unchanged());
        std::fs::rename(&program, folder.path().join("aside")).unwrap();
        assert!(basis.is_unchanged());
        std::fs::write(&program, "another").unwrap();
        assert!(!basis.is_unchanged());
    }

    #[test]
    fn a_failure_counts_for_a_while() {
        let basis = Basis::now([], std::path::Path::new("/")).for_a_while();
        assert!(basis.is_unchanged());
        for until in [0, now() - 1, now() + 2 * RETRY] {
            assert!(!Basis { until: Some(until), ..basis.clone() }.is_unchanged(), "{until}");
        }
    }

    #[test]
    fn a_file_that_comes_to_a_folder_is_noticed() {
        let home = tempfile::tempdir().unwrap();
        // The user's, where no variable says otherwise.
        let config = std::env::var_os("XDG_CONFIG_HOME").is_none().then(|| home.path().join(".config"));
        let Some(folder) = config.map(|config| config.join(USER_FOLDER)) else { return };
        std::fs::create_dir_all(&folder).unwrap();
        let before = Basis::now([], home.path());
        assert!(before.is_unchanged());
        std::fs::write(folder.join("new.conf"), "[containers]\n").unwrap();
        assert!(!before.is_unchanged());
        let after = Basis::now([], home.path());
        assert!(after.is_unchanged() && after.files.iter().any(|file| file.path.ends_with("new.conf")));
        let has = |path: &str| after.files.iter().any(|file| file.path.ends_with(path));
        assert!(has("containers/mounts.conf") && has("etc/containers/oci/hooks.d"));
        assert!(after.variables.iter().any(|(name, _)| name == "PODMAN_USERNS"));
    }
}
