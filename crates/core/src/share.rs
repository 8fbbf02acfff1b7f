//! What of the host becomes visible inside, and where the application starts.

use crate::caller::Caller;
use flake_schema::{Flake, Share, ShareWhat, Workdir};
use std::path::{Path, PathBuf};

/// A folder or file of the host, at the same path inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// The path, absolute.
    pub path: PathBuf,
    /// Where it is found on the host, when not by that path.
    pub source: Option<PathBuf>,
    /// Whether it can only be read.
    pub read_only: bool,
}

/// What sharing comes to for one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shared {
    /// The mounts, those further up first.
    pub binds: Vec<Bind>,
    /// The working directory where it is shared with an instance that outlives the call: it is another one each time.
    pub passing: Option<Bind>,
    /// Where the application starts; absent: where the image says.
    pub workdir: Option<PathBuf>,
    /// What was asked for and cannot be, for a person at the terminal.
    pub warning: Option<String>,
}

/// A share that cannot be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ShareError {
    /// The path does not exist on the host.
    #[error("cannot share {}: there is no such file or directory", .0.display())]
    Missing(PathBuf),
    /// The working directory is gone or unreadable.
    #[error("cannot share the current directory: it was removed or cannot be read")]
    NoCwd,
    /// An engine's options are text.
    #[error("cannot share {}: the path is not UTF-8", .0.display())]
    NotText(PathBuf),
}

/// Folders that every image has its own of. Mounting the host's over, above or below one of them would
/// break the image or show what was not meant.
const SYSTEM: [&str; 17] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/root", "/run",
    "/sbin", "/sys", "/usr", "/var", "/",
];

/// Resolves the shares of a flake for a caller.
///
/// # Errors
/// [`ShareError`].
pub fn resolve(flake: &Flake, caller: &Caller) -> Result<Shared, ShareError> {
    let mut shared = Shared::default();
    for share in &flake.share {
        match &share.what {
            ShareWhat::Home => shared.add(&caller.home, share)?,
            ShareWhat::Path(path) => shared.add(Path::new(path), share)?,
            ShareWhat::Cwd | ShareWhat::Reserved(_) => {}
        }
    }
    let mut cwd_is_there = false;
    if let Some(share) = flake.share.iter().find(|share| share.what == ShareWhat::Cwd) {
        let cwd = caller.cwd.as_deref().ok_or(ShareError::NoCwd)?;
        match unfit(cwd, caller).filter(|_| !shared.covers(cwd)) {
            None if flake.lifetime.is_mutable() => {
                if !shared.shows(cwd, share.read_only) {
                    let source = caller.cwd_pin.clone();
                    shared.passing = Some(Bind { path: cwd.to_owned(), source, read_only: share.read_only });
                }
                cwd_is_there = true;
            }
            None => {
                shared.add(cwd, share)?;
                for bind in shared.binds.iter_mut().filter(|bind| bind.path == cwd) {
                    bind.source.clone_from(&caller.cwd_pin);
                }
                cwd_is_there = true;
            }
            Some(why) => {
                shared.warning = Some(format!(
                    "{} is not shared: {why}; the application starts in its own directory",
                    cwd.display()
                ));
            }
        }
    }
    shared.workdir = match &flake.workdir {
        Workdir::Image => None,
        Workdir::Path(path) => Some(PathBuf::from(path)),
        Workdir::Cwd => caller.cwd.clone().filter(|cwd| cwd_is_there || shared.covers(cwd)),
    };
    shared.binds.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(shared)
}

impl Shared {
    /// Adds a mount, unless one that is there already shows the same.
    fn add(&mut self, path: &Path, share: &Share) -> Result<(), ShareError> {
        if path.to_str().is_none() {
            return Err(ShareError::NotText(path.to_owned()));
        }
        if !path.exists() {
            return Err(ShareError::Missing(path.to_owned()));
        }
        if !self.shows(path, share.read_only) {
            self.binds.retain(|bind| bind.path != path);
            self.binds.push(Bind { path: path.to_owned(), source: None, read_only: share.read_only });
        }
        Ok(())
    }

    /// Whether a mount that is there already shows a path with this access.
    fn shows(&self, path: &Path, read_only: bool) -> bool {
        let above = self.binds.iter().filter(|bind| path.starts_with(&bind.path));
        above.max_by_key(|bind| bind.path.as_os_str().len()).is_some_and(|bind| bind.read_only == read_only)
    }

    /// Whether a path is below a mount.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        self.binds.iter().any(|bind| path.starts_with(&bind.path))
    }
}

/// Why a working directory is not mounted.
fn unfit(cwd: &Path, caller: &Caller) -> Option<&'static str> {
    // The working directory has no links in it; the home may.
    let real_home = caller.home.canonicalize().unwrap_or_else(|_| caller.home.clone());
    for home in [caller.home.as_path(), &real_home].into_iter().filter(|home| *home != Path::new("/")) {
        if home.starts_with(cwd) {
            return Some("it holds your home, which is shared by the word `home`");
        }
        if cwd.starts_with(home) {
            return None;
        }
    }
    let clashes = |system: &str| {
        let system = Path::new(system);
        cwd == system || system != Path::new("/") && (cwd.starts_with(system) || system.starts_with(cwd))
    };
    SYSTEM.iter().any(|system| clashes(system)).then_some("the image has a directory of its own there")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unfit_for(home: &str, cwd: &str) -> bool {
        let caller = Caller { home: home.into(), ..Caller::with_id(12345, 12345).unwrap() };
        unfit(Path::new(cwd), &caller).is_some()
    }

    #[test]
    fn system_folders_and_the_home_are_not_mounted_as_cwd() {
        for cwd in ["/", "/usr", "/usr/share/doc", "/etc", "/lib64", "/var/tmp/x", "/home", "/home/ada"] {
            assert!(unfit_for("/home/ada", cwd), "{cwd}");
        }
        for cwd in ["/home/ada/project", "/srv/data", "/tmp/x", "/tmp", "/usrlocal", "/home/bob"] {
            assert!(!unfit_for("/home/ada", cwd), "{cwd}");
        }
        assert!(!unfit_for("/var/home/ada", "/var/home/ada/project"));
        assert!(!unfit_for("/root", "/root/project"));
        assert!(unfit_for("/", "/etc"));
    }
}
