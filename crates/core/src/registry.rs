//! Which registration a call or a name means.

use crate::caller::Caller;
use crate::host_path::is_same;
use crate::place::{Places, Scope};
use flake_schema::{FlakeName, LoadError, Loaded, WordError, load_flake};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Links followed from the called name until one is registered.
const LINKS_MAX: usize = 8;

/// A registration and where it was found.
#[derive(Debug, Clone)]
pub struct Registration {
    /// What the files say.
    pub loaded: Loaded,
    /// The flake file.
    pub file: PathBuf,
    /// Whose it is.
    pub scope: Scope,
}

/// Why no registration was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The called word is no name a flake can have.
    #[error("{0}")]
    Name(#[from] WordError),
    /// No flake of that name.
    #[error("no flake is registered as {name}; see: flake-ctl list")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A file is wrong or unreadable.
    #[error(transparent)]
    Load(Box<LoadError>),
}

impl From<LoadError> for FindError {
    fn from(error: LoadError) -> Self {
        Self::Load(Box::new(error))
    }
}

/// The registrations that a caller can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    /// The system's places.
    pub system: Places,
    /// The caller's own; absent for root, who has none.
    pub user: Option<Places>,
}

impl Registry {
    /// What this caller sees.
    ///
    /// # Errors
    /// A settings file is wrong.
    pub fn of(caller: &Caller) -> Result<Self, LoadError> {
        let user = if caller.is_root() { None } else { Some(Places::user(caller)?) };
        Ok(Self { system: Places::system()?, user })
    }

    /// The places of a scope; root's are the system's.
    #[must_use]
    pub fn places(&self, scope: Scope) -> &Places {
        self.user.as_ref().filter(|_| scope == Scope::User).unwrap_or(&self.system)
    }

    /// The places of the one who calls: their store, their state.
    #[must_use]
    pub fn own(&self) -> &Places {
        self.user.as_ref().unwrap_or(&self.system)
    }

    /// The registration behind a call. `called` is `argv[0]`.
    ///
    /// A link to a registered command works under any name. When both the system and the user have a
    /// flake of that name, the one whose command was called is meant, else the system's.
    ///
    /// # Errors
    /// [`FindError`].
    pub fn find_called(&self, called: &OsStr, caller: &Caller) -> Result<Registration, FindError> {
        let mut link = called_path(called, caller);
        let mut unknown = None;
        for _ in 0..LINKS_MAX {
            let name = FlakeName::from_os(link.file_name().unwrap_or(called))?;
            match self.find(&name, Some(&link)) {
                Err(FindError::Unknown { name }) => unknown = unknown.or(Some(name)),
                found => return found,
            }
            let Ok(target) = fs::read_link(&link) else { break };
            link = link.parent().unwrap_or(Path::new("/")).join(target);
        }
        Err(FindError::Unknown { name: unknown.unwrap_or_default() })
    }

    /// The registration of a name in one scope; root has the system's only.
    ///
    /// # Errors
    /// [`FindError`].
    pub fn find_in(&self, name: &FlakeName, scope: Scope) -> Result<Registration, FindError> {
        let places = self.places(scope);
        let file = places.flake_file(name);
        if fs::symlink_metadata(&file).is_err() {
            return Err(FindError::Unknown { name: name.as_str().to_owned() });
        }
        Ok(Registration { loaded: load_flake(&file)?, scope: places.scope, file })
    }

    /// The registration of a name; `link` decides when there are two.
    ///
    /// # Errors
    /// [`FindError`].
    pub fn find(&self, name: &FlakeName, link: Option<&Path>) -> Result<Registration, FindError> {
        let places = [Some(&self.system), self.user.as_ref()];
        let mut found: Vec<(&Places, PathBuf)> = places
            .into_iter()
            .flatten()
            .map(|places| (places, places.flake_file(name)))
            .filter(|(_, file)| fs::symlink_metadata(file).is_ok())
            .collect();
        if let (2, Some(link)) = (found.len(), link) {
            let is_called =
                |file: &Path| load_flake(file).is_ok_and(|loaded| is_same(&loaded.flake.host_path, link));
            if let Some(index) = found.iter().position(|(_, file)| is_called(file)) {
                found.swap(0, index);
            }
        }
        let Some((places, file)) = found.into_iter().next() else {
            return Err(FindError::Unknown { name: name.as_str().to_owned() });
        };
        Ok(Registration { loaded: load_flake(&file)?, scope: places.scope, file })
    }
}

/// The flake files of a folder, by name.
pub(crate) fn flake_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension() == Some(OsStr::new("yaml")) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The path of the link that was called, as the shell found it.
fn called_path(called: &OsStr, caller: &Caller) -> PathBuf {
    let path = Path::new(called);
    if called.as_encoded_bytes().contains(&b'/') {
        return caller.cwd.as_deref().unwrap_or(Path::new("/")).join(path);
    }
    caller
        .var("PATH")
        .and_then(|folders| {
            env::split_paths(folders)
                .filter(|folder| folder.is_absolute())
                .map(|folder| folder.join(path))
                .find(|candidate| candidate.exists())
        })
        .unwrap_or_else(|| path.to_owned())
}
