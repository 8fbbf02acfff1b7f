//! Removing all that is in a folder, however deep: an application may have made what it likes.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, openat, renameat_with, unlinkat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How often in a row nothing may have become less.
const FRUITLESS: u32 = 8;

/// Removes everything in a folder. Neither memory nor descriptors grow with the depth: folders within folders come up
/// to this one, by names of their own, before they are looked into.
pub(crate) fn empty(folder: BorrowedFd<'_>) -> io::Result<()> {
    let mut bytes = [0; size_of::<u64>()];
    getrandom(&mut bytes, GetRandomFlags::INSECURE)?;
    let mut number = u64::from_ne_bytes(bytes);
    let mut fruitless = 0;
    while fruitless < FRUITLESS {
        let (mut found, mut removed) = (0, 0);
        each(folder, |name, kind| {
            found += 1;
            removed += usize::from(one(folder, name, kind, &mut number)?);
            Ok(())
        })?;
        if found == 0 {
            return Ok(());
        }
        fruitless = if removed == 0 { fruitless + 1 } else { 0 };
    }
    // Somebody fills it.
    Err(Errno::NOTEMPTY.into())
}

/// Does something with the name and the kind of each that is in a folder.
pub(crate) fn each(
    folder: BorrowedFd<'_>,
    mut act: impl FnMut(&CStr, FileType) -> io::Result<()>,
) -> io::Result<()> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            act(entry.file_name(), entry.file_type())?;
        }
    }
    Ok(())
}

/// Removes one of the top; false where it is not empty yet.
fn one(top: BorrowedFd<'_>, name: &CStr, kind: FileType, number: &mut u64) -> io::Result<bool> {
    if file(top, name, kind)? {
        return Ok(true);
    }
    let folder = match openat(top, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(true),
        opened => opened?,
    };
    each(folder.as_fd(), |inner, kind| {
        if file(folder.as_fd(), inner, kind)? {
            return Ok(());
        }
        loop {
            *number = number.wrapping_add(1);
            let up = format!("{number:016x}");
            match renameat_with(&folder, inner, top, up, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                Ok(()) | Err(Errno::NOENT) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    })?;
    match unlinkat(top, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        // A file system may pass over entries while others are taken away.
        Err(Errno::NOTEMPTY) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes what is no folder; false where it is one.
fn file(folder: BorrowedFd<'_>, name: &CStr, kind: FileType) -> io::Result<bool> {
    if kind == FileType::Directory {
        return Ok(false);
    }
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn nothing_is_left_of_whatever_there_was() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, outside) = (folder.path().join("tree"), folder.path().join("outside"));
        fs::create_dir_all(tree.join("a/b/c")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "").unwrap();
        symlink(&outside, tree.join("a/link")).unwrap();
        symlink("/nowhere", tree.join("dangling")).unwrap();
        for number in 0..3000 {
            fs::write(tree.join(format!("a/b/{number}")), "x").unwrap();
        }
        empty(File::open(&tree).unwrap().as_fd()).unwrap();
        assert_eq!(fs::read_dir(&tree).unwrap().count(), 0);
        assert!(outside.join("kept").exists());
    }

    #[test]
    fn a_tree_deeper_than_a_path_is_long() {
        let folder = tempfile::tempdir().unwrap();
        let mut at = std::os::fd::OwnedFd::from(File::open(folder.path()).unwrap());
        let name = "d".repeat(200);
        for _ in 0..3000 {
            rustix::fs::mkdirat(&at, &name, Mode::RWXU).unwrap();
            at = openat(&at, &name, FOLDER, Mode::empty()).unwrap();
        }
        drop(at);
        empty(File::open(folder.path()).unwrap().as_fd()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_cannot_be_removed_is_said() {
        if rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
        assert!(empty(File::open(folder.path()).unwrap().as_fd()).is_err());
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    }
}
