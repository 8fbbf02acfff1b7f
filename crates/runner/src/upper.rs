//! What the root begins with above the image's layers: made in the writable folder before that is part of anything,
//! where a name costs a fraction of what it does in the root.

use crate::error::{RunError, on};
use flake_plan::{Entry, EntryKind};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, chmodat, chownat, mkdirat, openat, symlinkat};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Permission bits that a new file or folder can have at once; the others a change of the owner takes away.
const AT_ONCE: u32 = 0o1777;

/// Makes the entries, the root itself as the folder `name` in one that nobody else sees yet. There is no file mode
/// creation mask.
pub(crate) fn make(place: &OwnedFd, name: &str, entries: &[Entry]) -> Result<(), RunError> {
    let path = |entry: &Entry| Path::new(name).join(&entry.path);
    let failed = |what, entry: &Entry, source| on(what, &Path::new("/").join(&entry.path))(source);
    for entry in entries {
        one(place, &path(entry), entry).map_err(|error: io::Error| failed("make", entry, error))?;
    }
    // Later, since what is made in a folder may take after it.
    for entry in entries.iter().filter(|entry| (entry.uid, entry.gid) != (0, 0) || entry.mode & !AT_ONCE != 0)
    {
        own(place, &path(entry), entry)
            .map_err(|error: io::Error| failed("set the owner of", entry, error))?;
    }
    Ok(())
}

fn one(place: &OwnedFd, path: &Path, entry: &Entry) -> io::Result<()> {
    let mode = Mode::from_raw_mode(entry.mode & AT_ONCE);
    match &entry.kind {
        EntryKind::Folder => mkdirat(place, path, mode)?,
        EntryKind::Link { target } => symlinkat(target, place, path)?,
        EntryKind::File { content } => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = openat(place, path, flags, mode)?;
            if !content.is_empty() {
                File::from(file).write_all(content)?;
            }
        }
    }
    Ok(())
}

fn own(place: &OwnedFd, path: &Path, entry: &Entry) -> io::Result<()> {
    if (entry.uid, entry.gid) != (0, 0) {
        let (uid, gid) = (Uid::from_raw(entry.uid), Gid::from_raw(entry.gid));
        chownat(place, path, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    if entry.mode & !AT_ONCE != 0 && !matches!(entry.kind, EntryKind::Link { .. }) {
        chmodat(place, path, Mode::from_raw_mode(entry.mode), AtFlags::empty())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn entries_are_made_as_they_are_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let entry = |path: &str, kind, mode| Entry { path: path.into(), kind, mode, uid: 0, gid: 0 };
        let file = |content: &str| EntryKind::File { content: content.into() };
        let mut entries = vec![
            entry("", EntryKind::Folder, 0o755),
            entry("mail", EntryKind::Folder, 0o2755),
            entry("mail/new", EntryKind::Folder, 0o755),
            entry("mail/set", file("x"), 0o4711),
            entry("mtab", EntryKind::Link { target: "/proc/mounts".into() }, 0o777),
            entry("none", file(""), 0o444),
        ];
        if is_root {
            for number in [1, 3, 4] {
                (entries[number].uid, entries[number].gid) = (12, 34);
            }
            entries[0].mode = 0o555;
        }
        let place = OwnedFd::from(File::open(folder.path()).unwrap());
        make(&place, "upper", &entries).unwrap();

        let root = folder.path().join("upper");
        for entry in &entries {
            let found = fs::symlink_metadata(root.join(&entry.path)).unwrap();
            assert_eq!(found.permissions().mode() & 0o7777, entry.mode, "{entry:?}");
            assert!(!is_root || (found.uid(), found.gid()) == (entry.uid, entry.gid), "{entry:?}: {found:?}");
        }
        assert_eq!(fs::read_link(root.join("mtab")).unwrap(), Path::new("/proc/mounts"));
        assert_eq!(fs::read(root.join("mail/set")).unwrap(), b"x");
        assert!(make(&place, "upper", &entries).is_err());
    }
}
