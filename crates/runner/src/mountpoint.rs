//! Finding the place of a mount in a root whose content is not trusted, and making it where it is missing.

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// What has to be at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A folder.
    Folder,
    /// A file of any other type.
    File,
}

/// Whether links of the image on the way to a place count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// They are followed, within the root.
    Followed,
    /// They are refused: what the kernel's own file systems are masked by goes by their names.
    Refused,
}

/// What is at a path in the root, as a descriptor that only names it.
pub(crate) fn find(root: BorrowedFd<'_>, path: &Path, links: Links) -> io::Result<OwnedFd> {
    let mut resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    if links == Links::Refused {
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    let relative = path.strip_prefix("/").unwrap_or(path);
    let path = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    Ok(openat2(root, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?)
}

/// What is at a path in the root; where nothing is, it is made, with the folders that lead there.
pub(crate) fn find_or_make(
    root: BorrowedFd<'_>,
    path: &Path,
    kind: Kind,
    links: Links,
) -> io::Result<OwnedFd> {
    match find(root, path, links) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(root, path, kind, links),
        found => found,
    }
}

fn make(root: BorrowedFd<'_>, path: &Path, kind: Kind, links: Links) -> io::Result<OwnedFd> {
    let names: Vec<_> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(Ok(name)),
            Component::ParentDir => Some(Err(io::Error::from(io::ErrorKind::InvalidInput))),
            _ => None,
        })
        .collect::<io::Result<_>>()?;
    let (last, folders) = names.split_last().ok_or(io::ErrorKind::InvalidInput)?;
    let mut so_far = PathBuf::new();
    let mut folder = root.try_clone_to_owned()?;
    for name in folders {
        so_far.push(name);
        folder = match find(root, &so_far, links) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_folder(&folder, Path::new(name))?,
            found => found?,
        };
    }
    match kind {
        Kind::Folder => make_folder(&folder, Path::new(last)),
        Kind::File => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::WRONLY;
            drop(openat(&folder, *last, flags, Mode::from_raw_mode(0o644))?);
            open_plain(&folder, Path::new(last))
        }
    }
}

fn make_folder(folder: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    match mkdirat(folder, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => open_plain(folder, name),
        Err(error) => Err(error.into()),
    }
}

/// What was just made: a link in its place would be somebody else's.
fn open_plain(folder: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    let opened = openat(folder, name, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?;
    if file_type(&opened)? == FileType::Symlink {
        return Err(Errno::LOOP.into());
    }
    Ok(opened)
}

/// The type of what a descriptor leads to.
pub(crate) fn file_type(descriptor: impl AsFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(descriptor)?.st_mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    #[test]
    fn places_stay_in_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(&outside).unwrap();
        fs::create_dir_all(root.join("etc")).unwrap();
        symlink("../../outside", root.join("up")).unwrap();
        symlink("/etc", root.join("absolute")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        let opened = File::open(&root).unwrap();
        let make = |path: &str, links| find_or_make(opened.as_fd(), Path::new(path), Kind::File, links);

        make("/absolute/hosts", Links::Followed).unwrap();
        assert!(root.join("etc/hosts").is_file());
        make("/a/b/c", Links::Followed).unwrap();
        assert!(root.join("a/b/c").is_file());
        // The way up ends at the root, where there is no such folder.
        make("/up/file", Links::Followed).unwrap_err();
        make("/../../x", Links::Followed).unwrap_err();
        make("/dangling", Links::Followed).unwrap_err();
        make("/absolute/other", Links::Refused).unwrap_err();
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
