//! What is noted on the host about the instances of one group: a file each in `instances/UID/GROUP`.
//!
//! The engine's store is the truth; a file only spares asking it. Its time of modification is the instance's last use,
//! and whoever runs something in the instance holds a shared lock on it (flock(2)). A second file, in `.locks`, is
//! locked while the instance is made, started or removed, and names the socket of the last start.

use super::{ImageUser, Instance};
use flake_schema::InstanceName;
use flake_sys::atomic;
use flake_sys::reason::reason;
use rustix::fs::{FlockOperation, Mode, OFlags, Timestamps, flock, futimens, open};
use rustix::fs::{Timespec, UTIME_NOW};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The most bytes that a note may have.
const MOST: u64 = 16 << 10;
/// The folder of the locks; no instance's name begins with a dot.
const LOCKS: &str = ".locks";

/// The notes about the instances of one group.
#[derive(Debug, Clone)]
pub struct Notes {
    uid: u32,
    group: String,
    folder: PathBuf,
}

/// A note: an instance that was made, with all that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// What the engine calls it.
    pub id: String,
    /// What it was made of, as a fingerprint of all that decides it.
    pub made_of: String,
    /// Where its agent listens, when it has been up.
    pub socket: PathBuf,
    /// As whom calls run, where that is not the agent's user.
    pub user: Option<ImageUser>,
}

impl Made {
    /// Removes the socket. A note that was damaged may name anything: what is no socket stays.
    pub fn remove_socket(&self) {
        remove_socket(&self.socket);
    }
}

fn remove_socket(path: &Path) {
    if fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket()) {
        let _ = fs::remove_file(path);
    }
}

/// Something runs in the instance while this lives.
#[derive(Debug)]
pub struct InUse {
    file: OwnedFd,
}

impl From<InUse> for OwnedFd {
    fn from(in_use: InUse) -> Self {
        in_use.file
    }
}

/// Nobody enters the instance while this lives.
#[derive(Debug)]
pub struct Closed {
    _file: Option<OwnedFd>,
}

/// Nobody else makes, starts or removes the instance while this lives.
#[derive(Debug)]
pub struct Making {
    _file: OwnedFd,
}

/// A note could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {}: {}", path.display(), reason(source))]
pub struct NotesError {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

fn failed<E: Into<io::Error>>(what: &'static str, path: &Path) -> impl FnOnce(E) -> NotesError {
    move |source| NotesError { what, path: path.to_owned(), source: source.into() }
}

impl Notes {
    /// Those of a user's group below a state folder.
    #[must_use]
    pub fn new(state_dir: &Path, uid: u32, group: &str) -> Self {
        let folder = state_dir.join("instances").join(uid.to_string()).join(group);
        Self { uid, group: group.to_owned(), folder }
    }

    /// The instances that are noted, by label.
    #[must_use]
    pub fn instances(&self) -> Vec<Instance> {
        let mut found: Vec<Instance> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| self.named(entry.file_name().to_str()?))
            .collect();
        found.sort();
        found
    }

    /// The instance of a label.
    fn named(&self, label: &str) -> Option<Instance> {
        // The group's name need not be one that an instance can have.
        let name = if label == self.group { None } else { Some(label.parse().ok()?) };
        Some(self.instance(name))
    }

    /// The instance of a name, noted or not; none for the one without.
    #[must_use]
    pub fn instance(&self, name: Option<InstanceName>) -> Instance {
        Instance::new(self.uid, &self.group, name)
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Whether an instance is noted.
    #[must_use]
    pub fn has(&self, instance: &Instance) -> bool {
        self.file(instance).exists()
    }

    /// The note of an instance, which counts as used from now on, and as in use while the second value lives. None
    /// where there is no note, or none that can be read.
    #[must_use]
    pub fn enter(&self, instance: &Instance) -> Option<(Made, InUse)> {
        let file = self.open(instance, OFlags::RDONLY).ok()?;
        flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = futimens(&file, &Timestamps { last_access: now, last_modification: now });
        let made = read(&file)?;
        Some((made, InUse { file }))
    }

    /// The note of an instance, only to look at.
    #[must_use]
    pub fn read(&self, instance: &Instance) -> Option<Made> {
        read(&self.open(instance, OFlags::RDONLY).ok()?)
    }

    /// When an instance was last used, as far as is known.
    #[must_use]
    pub fn last_use(&self, instance: &Instance) -> Option<SystemTime> {
        fs::symlink_metadata(self.file(instance)).ok()?.modified().ok()
    }

    /// Whether something runs in an instance.
    #[must_use]
    pub fn is_in_use(&self, instance: &Instance) -> bool {
        let Ok(file) = self.open(instance, OFlags::RDONLY) else { return false };
        matches!(flock(&file, FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK))
    }

    /// Keeps an instance from being entered while the value lives, as one that is to be removed. None where something
    /// runs in it; one without a note cannot be entered anyway.
    #[must_use]
    pub fn close(&self, instance: &Instance) -> Option<Closed> {
        let Ok(file) = self.open(instance, OFlags::RDONLY) else { return Some(Closed { _file: None }) };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => None,
            _ => Some(Closed { _file: Some(file) }),
        }
    }

    /// Notes that an instance is made and up.
    ///
    /// # Errors
    /// [`NotesError`].
    pub fn write(&self, instance: &Instance, made: &Made) -> Result<(), NotesError> {
        self.make_folder()?;
        let file = self.file(instance);
        let mut text = format!("{}\n{}\n{}\n", made.id, made.made_of, made.socket.display());
        if let Some(user) = &made.user {
            text.push_str(&format!("{user}\n"));
        }
        atomic::write(&file, text.as_bytes(), 0o600).map_err(failed("write", &file))
    }

    /// Forgets an instance, and removes its socket.
    ///
    /// # Errors
    /// [`NotesError`].
    pub fn forget(&self, instance: &Instance) -> Result<(), NotesError> {
        self.remove_left(instance);
        let file = self.file(instance);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &file)(error)),
            _ => Ok(()),
        }
    }

    /// Waits until nobody else makes, starts or removes the instance.
    ///
    /// # Errors
    /// [`NotesError`]; a signal that came meanwhile is one too.
    pub fn lock(&self, instance: &Instance) -> Result<Making, NotesError> {
        self.make_folder()?;
        let path = self.folder.join(LOCKS).join(instance.label());
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(failed("open", &path))?;
        flock(&file, FlockOperation::LockExclusive).map_err(failed("lock", &path))?;
        Ok(Making { _file: file })
    }

    /// Notes where an agent that is about to be started will listen, and removes the socket of the start before: whoever
    /// made that is gone, but what they started may hold it for a moment yet. The instance is locked meanwhile.
    ///
    /// # Errors
    /// [`NotesError`].
    pub fn listens_next(&self, instance: &Instance, socket: &Path) -> Result<(), NotesError> {
        self.remove_left(instance);
        let path = self.folder.join(LOCKS).join(instance.label());
        fs::write(&path, socket.as_os_str().as_bytes()).map_err(failed("write", &path))
    }

    /// Removes the socket of the last start.
    fn remove_left(&self, instance: &Instance) {
        let path = self.folder.join(LOCKS).join(instance.label());
        let Ok(left) = fs::read(&path) else { return };
        if !left.is_empty() {
            remove_socket(Path::new(OsStr::from_bytes(&left)));
        }
    }

    fn make_folder(&self) -> Result<(), NotesError> {
        let folder = self.folder.join(LOCKS);
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&folder).map_err(failed("make", &folder))
    }

    fn file(&self, instance: &Instance) -> PathBuf {
        self.folder.join(instance.label())
    }

    fn open(&self, instance: &Instance, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        open(self.file(instance), flags, Mode::empty())
    }
}

fn read(file: &OwnedFd) -> Option<Made> {
    let mut text = String::new();
    File::from(file.try_clone().ok()?).take(MOST).read_to_string(&mut text).ok()?;
    let mut lines = text.lines();
    let (id, made_of, socket) = (lines.next()?, lines.next()?, lines.next()?);
    // A user that cannot be read must not become the agent's own.
    let user = lines.next().map(|line| ImageUser::parse(line).ok_or(())).transpose().ok()?;
    Some(Made { id: id.to_owned(), made_of: made_of.to_owned(), socket: socket.into(), user })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn notes(folder: &Path) -> (Notes, Instance, Made) {
        let socket = "/run/user/7/flakes/a b".into();
        let made = Made { id: "0a".into(), made_of: "f00".into(), socket, user: None };
        (Notes::new(folder, 7, "dev"), Instance::new(7, "dev", None), made)
    }

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let (notes, instance, made) = notes(folder.path());
        assert!(notes.enter(&instance).is_none() && notes.instances().is_empty());
        notes.write(&instance, &made).unwrap();
        let other = Instance::new(7, "dev", Some("other".parse().unwrap()));
        let user = ImageUser::find("5:6", ("", ""), "/");
        let as_user = Made { user, ..made.clone() };
        notes.write(&other, &as_user).unwrap();
        assert_eq!(notes.read(&instance), Some(made));
        assert_eq!(notes.read(&other), Some(as_user));
        assert_eq!(notes.instances(), [instance.clone(), other]);
        notes.forget(&instance).unwrap();
        notes.forget(&instance).unwrap();
        assert!(!notes.has(&instance));
    }

    #[test]
    fn an_instance_in_use_is_seen_and_was_used_now() {
        let folder = tempfile::tempdir().unwrap();
        let (notes, instance, made) = notes(folder.path());
        notes.write(&instance, &made).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(1000);
        File::options().write(true).open(notes.file(&instance)).unwrap().set_modified(long_ago).unwrap();
        assert_eq!(notes.last_use(&instance), Some(long_ago));
        let (_, in_use) = notes.enter(&instance).unwrap();
        assert!(notes.is_in_use(&instance));
        assert!(notes.last_use(&instance).unwrap() > long_ago + Duration::from_secs(900));
        assert!(notes.close(&instance).is_none());
        drop(in_use);
        assert!(!notes.is_in_use(&instance));
        let closed = notes.close(&instance).unwrap();
        assert!(notes.enter(&instance).is_none());
        drop(closed);
        assert!(notes.enter(&instance).is_some());
    }

    #[test]
    fn what_is_no_note_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (notes, instance, made) = notes(folder.path());
        notes.write(&instance, &made).unwrap();
        fs::write(notes.file(&instance), "0a\nf00\n/x\n1 2").unwrap();
        assert!(notes.enter(&instance).is_none());
        fs::write(notes.file(&instance), "half").unwrap();
        assert!(notes.enter(&instance).is_none());
        fs::remove_file(notes.file(&instance)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", notes.file(&instance)).unwrap();
        assert!(notes.enter(&instance).is_none());
    }
}
