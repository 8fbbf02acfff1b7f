//! Where registrations, their images and what is kept about them are: for the system, and for a user.

use crate::caller::Caller;
use flake_schema::{FlakeName, LoadError, Settings, Source, load_settings};
use std::path::{Path, PathBuf};

const SYSTEM_SETTINGS: &str = "/etc/flakes.yml";
const SYSTEM_FLAKES: &str = "/usr/share/flakes";
const SYSTEM_STATE: &str = "/var/lib/flakes";
const SYSTEM_BIN: &str = "/usr/local/bin";

/// Whose registrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everybody's, made by root.
    System,
    /// One user's own.
    User,
}

/// The places of one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Whose they are.
    pub scope: Scope,
    /// `NAME.yaml` and `NAME.d`.
    pub flakes_dir: PathBuf,
    /// What may be lost only with the registrations themselves.
    pub state_dir: PathBuf,
    /// Where an application's link is proposed.
    pub bin_dir: PathBuf,
    /// The settings file.
    pub settings_file: PathBuf,
    /// The settings in force.
    pub settings: Settings,
    /// What the settings were read from, and the folder of the registrations.
    pub sources: Vec<Source>,
}

impl Places {
    /// The system's.
    ///
    /// # Errors
    /// The settings file is wrong.
    pub fn system() -> Result<Self, LoadError> {
        let loaded = load_settings(&[SYSTEM_SETTINGS])?;
        let settings = loaded.settings;
        let flakes_dir = settings.flakes_dir.clone().unwrap_or_else(|| SYSTEM_FLAKES.into());
        let mut sources = loaded.sources;
        sources.extend(Source::look_at(&flakes_dir).ok());
        Ok(Self {
            scope: Scope::System,
            sources,
            flakes_dir,
            state_dir: SYSTEM_STATE.into(),
            bin_dir: SYSTEM_BIN.into(),
            settings_file: SYSTEM_SETTINGS.into(),
            settings,
        })
    }

    /// A user's. Quotas of the system's settings hold unless the user's own file says otherwise; the
    /// system's places do not.
    ///
    /// # Errors
    /// A settings file is wrong.
    pub fn user(caller: &Caller) -> Result<Self, LoadError> {
        let config = caller.home.join(".config");
        let file = config.join("flakes.yml");
        let own = load_settings(&[&file])?.settings;
        let loaded = load_settings(&[Path::new(SYSTEM_SETTINGS), &file])?;
        let layered = loaded.settings;
        let settings = Settings {
            flakes_dir: own.flakes_dir,
            podman_ids_dir: own.podman_ids_dir,
            firecracker_ids_dir: own.firecracker_ids_dir,
            podman_storage_conf: own.podman_storage_conf,
            ..layered
        };
        let state = caller.xdg("XDG_STATE_HOME");
        Ok(Self {
            scope: Scope::User,
            sources: loaded.sources,
            flakes_dir: settings.flakes_dir.clone().unwrap_or_else(|| config.join("flakes")),
            state_dir: state.map_or_else(|| caller.home.join(".local/state"), Path::to_owned).join("flakes"),
            bin_dir: caller.home.join(".local/bin"),
            settings_file: file,
            settings,
        })
    }

    /// The places that a caller's own registrations go to.
    ///
    /// # Errors
    /// A settings file is wrong.
    pub fn of(caller: &Caller) -> Result<Self, LoadError> {
        if caller.is_root() { Self::system() } else { Self::user(caller) }
    }

    /// The permission bits of folders made here: everybody looks into the system's, nobody else into a user's.
    #[must_use]
    pub fn folder_mode(&self) -> u32 {
        match self.scope {
            Scope::System => 0o755,
            Scope::User => 0o700,
        }
    }

    /// The flake file of a name.
    #[must_use]
    pub fn flake_file(&self, name: &FlakeName) -> PathBuf {
        self.flakes_dir.join(name.file_name())
    }

    /// The folder of a name's layers.
    #[must_use]
    pub fn layers_dir(&self, name: &FlakeName) -> PathBuf {
        self.flakes_dir.join(name.dir_name())
    }

    /// The record of which image a flake's tag holds.
    #[must_use]
    pub fn pin_file(&self, name: &FlakeName) -> PathBuf {
        self.state_dir.join("pins").join(name.as_str())
    }

    /// The plan of a registration of `scope`, in the places of the one who calls it: a user's store and ids make
    /// another plan of a system flake than root's. It is in a folder whose name no flake can have.
    #[must_use]
    pub fn plan_file(&self, name: &FlakeName, scope: Scope) -> PathBuf {
        let plans = self.state_dir.join("plans");
        if scope == self.scope {
            plans.join(name.as_str())
        } else {
            plans.join(".system").join(name.as_str())
        }
    }

    /// Where launches that write to disk have a folder each.
    #[must_use]
    pub fn scratch_dir(&self) -> PathBuf {
        self.state_dir.join("scratch")
    }

    /// The permission bits of what is noted about a registration: everybody may read the system's.
    #[must_use]
    pub fn note_mode(&self) -> u32 {
        match self.scope {
            Scope::System => 0o644,
            Scope::User => 0o600,
        }
    }

    /// The archive from which users import a system flake's image.
    #[must_use]
    pub fn archive(&self, name: &FlakeName) -> PathBuf {
        self.flakes_dir.join("images").join(format!("{}.oci.tar", name.as_str()))
    }
}

/// The name under which a flake's image stays in the store, whatever becomes of its other names.
///
/// A user who calls a system flake has its image in the same store as those of their own flakes, which therefore have a
/// tag of their own: one flake never launches the image of another that has its name.
///
/// Repository names know lower case letters, digits and single signs between them; any other byte is
/// written as `_x` and two hexadecimal digits, so different flakes never share a name.
#[must_use]
pub fn pinned_tag(name: &FlakeName, scope: Scope) -> String {
    let repository = repository(name);
    match scope {
        Scope::System => repository,
        Scope::User => repository + ":own",
    }
}

/// The name under which the image before the last update stays.
#[must_use]
pub fn previous_tag(name: &FlakeName, scope: Scope) -> String {
    let repository = repository(name);
    match scope {
        Scope::System => repository + ":previous",
        Scope::User => repository + ":own-previous",
    }
}

fn repository(name: &FlakeName) -> String {
    let bytes = name.as_str().as_bytes();
    let is_plain = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
    let mut repository = String::from("localhost/flake/");
    if !is_plain(bytes.first()) {
        // A name cannot begin with an escape: those that would have a folder of their own.
        repository.push_str("as/x");
    }
    for (index, byte) in bytes.iter().enumerate() {
        let between = index > 0 && is_plain(bytes.get(index - 1)) && is_plain(bytes.get(index + 1));
        if is_plain(Some(byte)) || between && matches!(byte, b'.' | b'-') {
            repository.push(char::from(*byte));
        } else {
            repository.push_str(&format!("_x{byte:02x}"));
        }
    }
    repository
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_flakes_share_a_plan() {
        let caller = Caller { home: "/home/ada".into(), ..Caller::with_id(0, 0).unwrap() };
        let places = Places::user(&caller).unwrap();
        let mut files = std::collections::BTreeSet::new();
        for name in ["joe", "joe@system", "system", "system@system"] {
            let name: FlakeName = name.parse().unwrap();
            for scope in [Scope::System, Scope::User] {
                let file = places.plan_file(&name, scope);
                let folders = file.ancestors().skip(1).map(Path::to_owned);
                assert!(folders.into_iter().all(|folder| !files.contains(&folder)), "{}", file.display());
                assert!(files.insert(file.clone()), "{}", file.display());
            }
        }
    }

    #[test]
    fn flakes_of_one_name_share_no_tag() {
        let name: FlakeName = "joe".parse().unwrap();
        let tags: std::collections::BTreeSet<String> = [Scope::System, Scope::User]
            .into_iter()
            .flat_map(|scope| [pinned_tag(&name, scope), previous_tag(&name, scope)])
            .collect();
        assert_eq!(tags.len(), 4);
    }

    #[test]
    fn tags_are_repository_names_and_differ() {
        for (name, tag) in [
            ("aws", "localhost/flake/aws"),
            ("python3.11", "localhost/flake/python3.11"),
            ("a-b", "localhost/flake/a-b"),
            ("a_b", "localhost/flake/a_x5fb"),
            ("a--b", "localhost/flake/a_x2d_x2db"),
            ("g++", "localhost/flake/g_x2b_x2b"),
            ("GIMP", "localhost/flake/as/x_x47_x49_x4d_x50"),
            ("x.", "localhost/flake/x_x2e"),
        ] {
            assert_eq!(pinned_tag(&name.parse().unwrap(), Scope::System), tag);
        }
    }
}
