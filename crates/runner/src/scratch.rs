//! Folders on disk for what launches write into their roots, one each. A lock on it that the launcher holds says that
//! the launch lives; a folder without one is what a killed launcher has left.

use crate::error::{RunError, on, system};
use crate::tree;
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, fchmod, flock, fremovexattr, fstat, mkdir, mkdirat, open, openat,
    statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The permission bits of all of them: files inside belong to anybody, with any permissions.
const CLOSED: Mode = Mode::RWXU;
/// Others who could rename in it.
const OTHERS_WRITE: u32 = 0o022;
/// A folder itself, not what a link leads to.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How many digits a name has, all hexadecimal.
const DIGITS: usize = 16;
/// How often a folder is made until nobody takes it for one that was left.
const TRIES: usize = 64;

/// The folder of this launch, which goes with this value.
#[derive(Debug)]
pub(crate) struct Scratch {
    place: OwnedFd,
    name: String,
    path: PathBuf,
    /// Locked, as long as this process has it.
    folder: OwnedFd,
}

/// A folder that a killed launcher has left, locked so that nobody else removes it.
#[derive(Debug)]
pub struct Left {
    place: OwnedFd,
    name: String,
    path: PathBuf,
    folder: OwnedFd,
}

impl Scratch {
    /// Makes one in a folder of this user's, which is made as well, and removes those that were left there. In a user
    /// namespace this process is the root of it.
    pub(crate) fn make(place: &Path) -> Result<Self, RunError> {
        match mkdir(place, CLOSED) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(on("make the folder", place)(error)),
        }
        let opened = own_place(place)?;
        // What cannot be removed, such as files of ids that this user has no more, is in nobody's way.
        left_in(&opened, place).for_each(|left| drop(left.remove()));
        for _ in 0..TRIES {
            let name = new_name().map_err(system("make a name"))?;
            let path = place.join(&name);
            if let Some(folder) = new_folder(&opened, &name).map_err(on("make the folder", &path))? {
                return Ok(Self { place: opened, name, path, folder });
            }
        }
        Err(on("make a folder in", place)(Errno::EXIST))
    }

    /// The same folder in the mount namespace that this process has by now.
    pub(crate) fn open(&self) -> Result<OwnedFd, RunError> {
        let opened = open(&self.path, FOLDER, Mode::empty()).map_err(on("open the folder", &self.path))?;
        let identity = |fd: BorrowedFd<'_>| fstat(fd).map(|stat| (stat.st_dev, stat.st_ino));
        match (identity(opened.as_fd()), identity(self.folder.as_fd())) {
            (Ok(opened_one), Ok(own)) if opened_one == own => Ok(opened),
            _ => Err(on("open the folder", &self.path)(Errno::STALE)),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is removed by a later launch.
        let _ = remove(&self.place, &self.name, &self.folder);
    }
}

impl Left {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it. What belongs to other ids takes a process that is the root of their user namespace.
    ///
    /// # Errors
    /// What the system says; then some of it is still there.
    pub fn remove(self) -> io::Result<()> {
        remove(&self.place, &self.name, &self.folder)
    }
}

/// The folders that killed launchers have left in a folder of this user's. Two descriptors are open for each.
pub fn left(place: &Path) -> impl Iterator<Item = Left> {
    let opened = own_place(place).ok();
    opened.into_iter().flat_map(move |opened| left_in(&opened, place).collect::<Vec<_>>())
}

fn left_in<'a>(opened: &'a OwnedFd, place: &'a Path) -> impl Iterator<Item = Left> + 'a {
    let mut names = Vec::new();
    // Nothing else is anybody's here to remove.
    let _ = tree::each(opened.as_fd(), |name, _| {
        names.extend(name.to_str().ok().filter(|name| is_name(name)).map(str::to_owned));
        Ok(())
    });
    names.into_iter().filter_map(move |name| {
        let folder = openat(opened, &name, FOLDER, Mode::empty()).ok()?;
        flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
        let path = place.join(&name);
        Some(Left { place: opened.try_clone().ok()?, name, path, folder })
    })
}

/// Opens the folder that all of a user's are in. Nobody else may have a say in what is there.
fn own_place(place: &Path) -> Result<OwnedFd, RunError> {
    let opened = open(place, FOLDER, Mode::empty()).map_err(on("use the folder", place))?;
    let stat = fstat(&opened).map_err(on("look at", place))?;
    if stat.st_uid != geteuid().as_raw() || stat.st_mode & OTHERS_WRITE != 0 {
        return Err(RunError::NotOwn(place.to_owned()));
    }
    Ok(opened)
}

/// Makes and locks a folder; none when the name is taken, or somebody took it for one that was left.
fn new_folder(place: &OwnedFd, name: &str) -> io::Result<Option<OwnedFd>> {
    match mkdirat(place, name, CLOSED) {
        Err(Errno::EXIST) => return Ok(None),
        made => made?,
    }
    let folder = match openat(place, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        locked => locked?,
    }
    if let Err(Errno::NOENT) = statat(place, name, AtFlags::SYMLINK_NOFOLLOW) {
        return Ok(None);
    }
    // Neither the file mode creation mask nor what the folder around gives to those in it is the application's.
    fchmod(&folder, CLOSED)?;
    let _ = fremovexattr(&folder, "system.posix_acl_default");
    Ok(Some(folder))
}

fn remove(place: &OwnedFd, name: &str, folder: &OwnedFd) -> io::Result<()> {
    tree::empty(folder.as_fd())?;
    Ok(unlinkat(place, name, AtFlags::REMOVEDIR)?)
}

fn new_name() -> io::Result<String> {
    let mut bytes = [0; DIGITS / 2];
    getrandom(&mut bytes, GetRandomFlags::INSECURE)?;
    Ok(format!("{:0DIGITS$x}", u64::from_ne_bytes(bytes)))
}

fn is_name(name: &str) -> bool {
    name.len() == DIGITS && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(place: &Path) -> usize {
        fs::read_dir(place).unwrap().count()
    }

    #[test]
    fn what_is_locked_lives_and_the_rest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("scratch");
        let first = Scratch::make(&place).unwrap();
        fs::create_dir_all(first.path().join("upper/etc")).unwrap();
        let mode = fs::metadata(first.path()).unwrap().permissions().mode();
        assert_eq!((mode & 0o7777, names(&place)), (0o700, 1));

        fs::create_dir_all(place.join("0123456789abcdef/upper/etc")).unwrap();
        fs::create_dir(place.join("somebody's")).unwrap();
        fs::write(place.join("fedcba9876543210"), "").unwrap();
        let found: Vec<_> = left(&place).collect();
        assert_eq!(found.iter().map(Left::path).collect::<Vec<_>>(), [place.join("0123456789abcdef")]);
        // They are locked: another launch leaves them alone.
        let second = Scratch::make(&place).unwrap();
        assert_eq!(names(&place), 5);
        drop(found);
        let third = Scratch::make(&place).unwrap();
        assert!(!place.join("0123456789abcdef").exists() && first.path().join("upper/etc").exists());
        assert!(first.open().is_ok());
        drop((first, second, third));
        assert_eq!(names(&place), 2);
    }

    #[test]
    fn a_place_that_others_have_a_say_in_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("scratch");
        fs::create_dir(folder.path().join("target")).unwrap();
        symlink("target", &place).unwrap();
        let said = Scratch::make(&place).unwrap_err().to_string();
        assert!(said.starts_with(&format!("cannot use the folder {}: ", place.display())), "{said}");
        fs::remove_file(&place).unwrap();
        fs::create_dir(&place).unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o770)).unwrap();
        assert!(matches!(Scratch::make(&place), Err(RunError::NotOwn(_))));
        if geteuid().is_root() {
            fs::set_permissions(&place, Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(&place, Some(12), None).unwrap();
            assert!(matches!(Scratch::make(&place), Err(RunError::NotOwn(_))));
        }
        assert_eq!(names(&place), 0);
    }

    #[test]
    fn another_folder_in_its_place_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let made = Scratch::make(&folder.path().join("scratch")).unwrap();
        fs::remove_dir(made.path()).unwrap();
        assert!(made.open().is_err());
        fs::create_dir(made.path()).unwrap();
        assert!(made.open().is_err());
    }
}
