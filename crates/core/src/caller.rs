//! Who calls, from where, with what around.

use flake_tools::users;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// The calling user and the call's surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// User id.
    pub uid: u32,
    /// Primary group id.
    pub gid: u32,
    /// Login name; the number where the system knows no name.
    pub name: String,
    /// Name of the primary group; the number where the system knows no name.
    pub group: String,
    /// Full name or comment.
    pub gecos: String,
    /// Home directory: `HOME` where it is absolute, else the passwd entry's.
    pub home: PathBuf,
    /// Login shell.
    pub shell: PathBuf,
    /// The working directory; absent when it was deleted or cannot be read.
    pub cwd: Option<PathBuf>,
    /// A path that leads to the very same directory whatever is done to its name meanwhile; absent where
    /// nobody with fewer rights could do anything to it.
    pub cwd_pin: Option<PathBuf>,
    /// The environment.
    pub env: BTreeMap<OsString, OsString>,
    /// The file mode creation mask.
    pub umask: u32,
}

impl Caller {
    /// The user of this process.
    ///
    /// # Errors
    /// The name service's.
    pub fn current() -> io::Result<Self> {
        let mut caller =
            Self::with_id(rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw())?;
        caller.env = env::vars_os().collect();
        if let Some(home) = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) {
            caller.home = home;
        }
        caller.cwd = env::current_dir().ok();
        let mask = rustix::process::umask(rustix::fs::Mode::empty());
        rustix::process::umask(mask);
        caller.umask = mask.as_raw_mode();
        Ok(caller)
    }

    /// A user by the ids, with nothing around: only what the passwd entry says counts.
    ///
    /// # Errors
    /// The name service's.
    pub fn with_id(uid: u32, gid: u32) -> io::Result<Self> {
        let entry = users::by_uid(uid).map_err(io::Error::other)?;
        let (name, gecos, home, shell) = match entry {
            Some(entry) => (entry.name, entry.gecos.to_string_lossy().into_owned(), entry.home, entry.shell),
            None => (uid.to_string(), String::new(), PathBuf::from("/"), PathBuf::from("/bin/sh")),
        };
        let group = users::group_name(gid).map_err(io::Error::other)?.unwrap_or_else(|| gid.to_string());
        Ok(Self {
            group,
            uid,
            gid,
            name,
            gecos,
            home,
            shell,
            cwd: None,
            cwd_pin: None,
            env: BTreeMap::new(),
            umask: 0o022,
        })
    }

    /// Whether the caller is root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.uid == 0
    }

    /// A variable of the caller's environment, unless it is empty.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.env.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A folder named by a variable of the XDG base directory specification, which has to be absolute.
    #[must_use]
    pub fn xdg(&self, name: &str) -> Option<&Path> {
        self.var(name).map(Path::new).filter(|path| path.is_absolute())
    }
}
