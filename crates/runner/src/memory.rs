//! File systems in memory over a folder of the root: with the folder's mode where none is given, as runc mounts them,
//! and with its content where that is asked for.

use crate::filesystem::{self, MountOption};
use crate::mountpoint::{Links, find};
use flake_plan::MountFlags;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, chmodat, chownat, fchmod, fchown, fstat, mkdirat, openat,
    readlinkat, statat, symlinkat,
};
use rustix::process::{Gid, Uid};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Folders in folders, at most.
const DEPTH: usize = 64;
const DEFAULT_MODE: u32 = 0o755;

/// Makes the file system that is to stand at a place in the root.
pub(crate) fn over(
    root: BorrowedFd<'_>,
    place: &Path,
    options: &[MountOption],
    is_copied_up: bool,
    flags: MountFlags,
) -> io::Result<OwnedFd> {
    let before = find(root, place, Links::Followed).ok();
    let mut options = options.to_vec();
    if !options.iter().any(|(name, _)| name == "mode") {
        let stat = before.as_ref().and_then(|folder| fstat(folder).ok());
        let mode = stat.map_or(DEFAULT_MODE, |stat| stat.st_mode & 0o7777);
        options.push(("mode".into(), Some(format!("{mode:o}"))));
    }
    // What is read-only can still be filled before it is mounted.
    let mount = filesystem::new("tmpfs", &options, MountFlags { read_only: false, ..flags })?;
    if let Some(before) = before.filter(|_| is_copied_up) {
        let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        copy(openat(&before, ".", folder, Mode::empty())?.as_fd(), mount.as_fd(), DEPTH)?;
    }
    if flags.read_only {
        filesystem::restrict(&mount, flags)?;
    }
    Ok(mount)
}

/// Copies a folder's content: folders, regular files and links with their owners and modes.
fn copy(from: BorrowedFd<'_>, to: BorrowedFd<'_>, depth: usize) -> io::Result<()> {
    for entry in Dir::read_from(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let stat = statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if depth == 0 => return Err(io::ErrorKind::InvalidInput.into()),
            FileType::Directory => copy_folder(from, to, name, &stat, depth)?,
            FileType::RegularFile => copy_file(from, to, name, &stat)?,
            FileType::Symlink => {
                symlinkat(readlinkat(from, name, Vec::new())?.as_c_str(), to, name)?;
                let (user, group) = owner(&stat);
                chownat(to, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
            }
            // Devices, pipes and sockets mean nothing there.
            _ => {}
        }
    }
    Ok(())
}

fn copy_folder(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    name: &CStr,
    stat: &Stat,
    depth: usize,
) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    mkdirat(to, name, Mode::RWXU)?;
    let (from, copied) = (openat(from, name, flags, Mode::empty())?, openat(to, name, flags, Mode::empty())?);
    copy(from.as_fd(), copied.as_fd(), depth - 1)?;
    let (user, group) = owner(stat);
    fchown(&copied, Some(user), Some(group))?;
    Ok(chmodat(to, name, Mode::from_raw_mode(stat.st_mode & 0o7777), AtFlags::empty())?)
}

fn copy_file(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &CStr, stat: &Stat) -> io::Result<()> {
    // What has become a pipe meanwhile is not waited for.
    let read = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let create = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut source = File::from(openat(from, name, read, Mode::empty())?);
    let mut copied = File::from(openat(to, name, create, Mode::RUSR | Mode::WUSR)?);
    io::copy(&mut source, &mut copied)?;
    let (user, group) = owner(stat);
    fchown(&copied, Some(user), Some(group))?;
    // After the owner, whose change takes setuid bits away.
    Ok(fchmod(&copied, Mode::from_raw_mode(stat.st_mode & 0o7777))?)
}

fn owner(stat: &Stat) -> (Uid, Gid) {
    (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_folder_is_copied_with_modes_and_links() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("a/b/file"), "content").unwrap();
        fs::set_permissions(from.join("a/b/file"), fs::Permissions::from_mode(0o4710)).unwrap();
        fs::set_permissions(from.join("a"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("/etc/passwd", from.join("link")).unwrap();
        copy(File::open(&from).unwrap().as_fd(), File::open(&to).unwrap().as_fd(), DEPTH).unwrap();
        let mode = |path: &str| fs::symlink_metadata(to.join(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode("a"), mode("a/b/file")), (0o750, 0o4710));
        assert_eq!(fs::read_to_string(to.join("a/b/file")).unwrap(), "content");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("/etc/passwd"));
    }
}
