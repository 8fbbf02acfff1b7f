//! The folder of a path in a root whose content is hostile, made where it is missing.

use super::error::{Failure, Step};
use super::mountinfo::Mountinfo;
use nix::unistd::{setfsgid, setfsuid};
use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, mkdirat, open, openat2};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{fchdir, umask};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

/// How often a name is looked at while somebody else makes it and takes it away.
const ROUNDS: u32 = 8;

/// The names that lead to a path from the root; none when it is relative, goes up, or is the root itself.
pub(super) fn names(path: &Path) -> Option<Vec<&Path>> {
    let below = path.strip_prefix("/").ok()?;
    let names = below.components().map(|part| match part {
        Component::Normal(name) => Some(Path::new(name)),
        _ => None,
    });
    names.collect::<Option<Vec<_>>>().filter(|names| !names.is_empty())
}

/// The folder below this process' root. Every name is looked up on its own in the folder before it, which is held.
pub(super) fn find_or_make(names: &[&Path], mounts: &Mountinfo) -> Result<OwnedFd, Failure> {
    let root = open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let mut folder = root.map_err(|error| Failure { step: Step::Enter, error })?;
    for (depth, name) in (1..).zip(names) {
        let failed = |error| Failure { step: Step::Place(depth), error };
        folder = enter(&folder, name, mounts).map_err(failed)?;
    }
    Ok(folder)
}

fn enter(parent: &OwnedFd, name: &Path, mounts: &Mountinfo) -> Result<OwnedFd, Errno> {
    for _ in 0..ROUNDS {
        match find(parent, name) {
            Ok(folder) if fstat(&folder)?.st_nlink > 0 => return Ok(folder),
            // Mounted earlier, and removed on the host since: nothing can be made or mounted in it.
            Ok(removed) => take_away(parent, &removed, mounts)?,
            Err(Errno::NOENT) => match make(parent, name) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            },
            Err(error) => return Err(error),
        }
    }
    Err(Errno::AGAIN)
}

/// A link is never followed, also not the last one.
fn find(parent: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(parent, name, flags, Mode::empty(), resolve)
}

/// Makes a folder that belongs to the root of the container, as those that podman makes.
fn make(parent: &OwnedFd, name: &Path) -> Result<(), Errno> {
    // Without effect where there is no such root; this process does nothing else with files from here on.
    setfsgid(0.into());
    setfsuid(0.into());
    umask(Mode::empty());
    mkdirat(parent, name, Mode::from_raw_mode(0o755))
}

/// Unmounts what is mounted at a folder. Whoever is in it stays there.
fn take_away(parent: &OwnedFd, folder: &OwnedFd, mounts: &Mountinfo) -> Result<(), Errno> {
    mounts.refuse_shared(parent)?;
    fchdir(folder)?;
    match unmount(".", UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
        // No mount, but a folder of the container's that is being removed just now.
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_that_are_no_way_down_are_refused() {
        assert_eq!(names(Path::new("/a//./b/")).unwrap(), [Path::new("a"), Path::new("b")]);
        for path in ["", "/", "a/b", "/a/../b", "..", "/.."] {
            assert_eq!(names(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn only_folders_are_entered() {
        let root = tempfile::tempdir().unwrap();
        let folder = open(root.path(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mounts = Mountinfo::of_this_process().unwrap();
        fs::create_dir(root.path().join("folder")).unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        symlink("folder", root.path().join("link")).unwrap();
        symlink("nowhere", root.path().join("dangling")).unwrap();
        let entered = |name: &str| enter(&folder, Path::new(name), &mounts).map(drop);
        assert_eq!(entered("folder"), Ok(()));
        assert_eq!(entered("file"), Err(Errno::NOTDIR));
        assert_eq!(entered("link"), Err(Errno::LOOP));
        assert_eq!(entered("dangling"), Err(Errno::LOOP));
        assert!(!root.path().join("nowhere").exists());
    }
}
