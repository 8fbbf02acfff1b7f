//! What is at a path, as root sees it. Podman and the image had a hand in it: no link is followed.

use flake_tools::podman::{Own, OwnKind};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, lgetxattr, llistxattr, open, openat, readlinkat,
    statat,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// To open what can be opened without any effect: neither a device nor the other end of a pipe.
const FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
/// Names of attributes, and a value, in bytes: the kernel's own bound (`XATTR_LIST_MAX`).
const ATTRIBUTES_MOST: usize = 64 << 10;

/// What is at a path; of a file at most `most` bytes count.
///
/// # Errors
/// The system's, also that nothing is there.
pub(crate) fn at(path: &Path, most: u64) -> io::Result<Own> {
    let flags = FLAGS.difference(OFlags::NOFOLLOW).union(OFlags::DIRECTORY);
    let parent = open(path.parent().unwrap_or(Path::new("/")), flags, Mode::empty())?;
    Ok(one(&parent, Path::new(path.file_name().ok_or(io::ErrorKind::InvalidInput)?), most)?.0)
}

/// A folder, whose path is empty then, and all that is in it by their paths, but not much more than `entries` of
/// them.
///
/// # Errors
/// The system's.
pub(crate) fn tree(folder: &Path, most: u64, entries: usize) -> io::Result<BTreeMap<PathBuf, Own>> {
    let opened = open(folder, FLAGS | OFlags::DIRECTORY, Mode::empty())?;
    let (own, Some(opened)) = one(&opened, Path::new("."), most)? else {
        return Err(io::ErrorKind::NotADirectory.into());
    };
    let mut found = BTreeMap::from([(PathBuf::new(), own)]);
    let mut open = vec![(PathBuf::new(), opened)];
    while let Some((path, folder)) = open.pop() {
        for entry in Dir::read_from(&folder)? {
            let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            let (own, opened) = one(&folder, Path::new(&name), most)?;
            found.insert(path.join(&name), own);
            if found.len() > entries {
                return Ok(found);
            }
            open.extend(opened.map(|opened| (path.join(&name), opened)));
        }
    }
    Ok(found)
}

/// What has a name in a folder; and opened, if it is a folder.
fn one(folder: &OwnedFd, name: &Path, most: u64) -> io::Result<(Own, Option<OwnedFd>)> {
    let named = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let attributes = attributes(&Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))?;
    let own = |kind, stat: Stat| {
        let (mode, uid, gid) = (stat.st_mode & 0o7777, stat.st_uid, stat.st_gid);
        Own { kind, mode, uid, gid, attributes }
    };
    match FileType::from_raw_mode(named.st_mode) {
        FileType::Symlink => {
            let target = readlinkat(folder, name, Vec::new())?.into_bytes();
            return Ok((own(OwnKind::Link(OsString::from_vec(target).into()), named), None));
        }
        FileType::Directory | FileType::RegularFile => {}
        _ => return Ok((own(OwnKind::Other, named), None)),
    }
    let opened = openat(folder, name, FLAGS, Mode::empty())?;
    let stat = fstat(&opened)?;
    let is_small = u64::try_from(stat.st_size).is_ok_and(|size| size <= most);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok((own(OwnKind::Folder, stat), Some(opened))),
        FileType::RegularFile if is_small => {
            let mut content = Vec::new();
            File::from(opened).take(most).read_to_end(&mut content)?;
            Ok((own(OwnKind::File(content), stat), None))
        }
        _ => Ok((own(OwnKind::Other, stat), None)),
    }
}

fn attributes(path: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut names = vec![0; ATTRIBUTES_MOST];
    let length = match llistxattr(path, &mut names) {
        Err(rustix::io::Errno::OPNOTSUPP) => 0,
        listed => listed?,
    };
    let mut found = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; ATTRIBUTES_MOST];
        let length = lgetxattr(path, std::ffi::OsStr::from_bytes(name), &mut value)?;
        value.truncate(length);
        found.push((String::from_utf8_lossy(name).into_owned(), value));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    #[test]
    fn all_that_is_in_a_folder_is_found() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("upper");
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/small"), "x").unwrap();
        fs::write(folder.join("large"), "0123456789").unwrap();
        fs::set_permissions(folder.join("a/small"), fs::Permissions::from_mode(0o4750)).unwrap();
        symlink("/etc/passwd", folder.join("a/b/link")).unwrap();
        let _socket = UnixListener::bind(folder.join("socket")).unwrap();
        let found = tree(&folder, 5, 100).unwrap();
        let names: Vec<_> = found.keys().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(names, ["", "a", "a/b", "a/b/link", "a/small", "large", "socket"]);
        let small = &found[Path::new("a/small")];
        assert_eq!((&small.kind, small.mode), (&OwnKind::File(b"x".into()), 0o4750));
        assert_eq!(found[Path::new("a/b/link")].kind, OwnKind::Link("/etc/passwd".into()));
        assert!(["large", "socket"].iter().all(|name| found[Path::new(name)].kind == OwnKind::Other));
        assert_eq!(tree(&folder, 5, 3).unwrap().len(), 4);
        assert_eq!(at(&folder.join("a/small"), 5).unwrap(), *small);
        // A link in the place of the folder.
        symlink(&folder, scratch.path().join("other")).unwrap();
        assert!(tree(&scratch.path().join("other"), 5, 3).is_err());
        assert!(at(&folder.join("none"), 5).is_err());
    }
}
