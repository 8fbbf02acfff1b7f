//! Device files in `/dev`, each a mount, and the links beside them (config-linux.md of the runtime specification,
//! "Default Devices").
//!
//! Root's launches have files of their own: with the host's, a root inside could change their mode or owner for
//! everybody. A normal user's are the host's, which nobody inside owns, and of which that user could make none.

use crate::error::{RunError, on, system};
use crate::filesystem;
use crate::mountpoint::{Kind, Links, find, find_or_make};
use flake_plan::{Device, UserSpace};
use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, Uid, chownat, mknodat, stat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, move_mount};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

const DEV: &str = "/dev";
const LINKS: [(&str, &str); 6] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("core", "/proc/kcore"),
    ("ptmx", "pts/ptmx"),
];

/// Where device files come from.
#[derive(Debug)]
pub(crate) struct Devices {
    /// The folder in memory for those that are made; absent: they are the host's.
    folder: Option<OwnedFd>,
    count: u32,
}

impl Devices {
    /// For a launch of this user.
    pub(crate) fn new(folder: BorrowedFd<'_>, user: &UserSpace) -> Result<Self, RunError> {
        let own = || folder.try_clone_to_owned().map_err(system("make device files"));
        let folder = if *user == UserSpace::Host { Some(own()?) } else { None };
        Ok(Self { folder, count: 0 })
    }

    /// A mount of a device file like the host's at this path.
    pub(crate) fn like(&mut self, source: &Path) -> io::Result<OwnedFd> {
        let Some(folder) = &self.folder else { return filesystem::copy(CWD, source, false) };
        let name = format!("device{}", self.count);
        self.count += 1;
        let found = stat(source)?;
        let (kind, mode) = (FileType::from_raw_mode(found.st_mode), Mode::from_raw_mode(found.st_mode));
        match mknodat(folder, &name, kind, mode, found.st_rdev) {
            // A root that is one only in a namespace: the host's files do not belong to it.
            Err(Errno::PERM) => return filesystem::copy(CWD, source, false),
            made => made?,
        }
        if (found.st_uid, found.st_gid) != (0, 0) {
            let (uid, gid) = (Uid::from_raw(found.st_uid), Gid::from_raw(found.st_gid));
            chownat(folder, &name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
        }
        let mount = filesystem::copy(folder, Path::new(&name), false)?;
        filesystem::permit_device(&mount)?;
        Ok(mount)
    }
}

/// Puts device files into the root.
pub(crate) fn add(root: BorrowedFd<'_>, devices: &[Device], files: &mut Devices) -> Result<(), RunError> {
    let dev = find(root, Path::new(DEV), Links::Refused).ok();
    for device in devices {
        let mount = files.like(&device.source).map_err(on("make the device", &device.source))?;
        let name = device.path.strip_prefix(DEV).ok().filter(|name| name.components().count() == 1);
        let is_attached = match (&dev, name) {
            (Some(dev), Some(name)) => attach_new(&mount, dev, name).map_err(on("mount", &device.path))?,
            _ => false,
        };
        if !is_attached {
            let place = find_or_make(root, &device.path, Kind::File, Links::Followed)
                .map_err(on("make a place for", &device.path))?;
            filesystem::attach(&mount, place.as_fd()).map_err(on("mount", &device.path))?;
        }
    }
    let Some(folder) = dev else { return Ok(()) };
    for (name, target) in LINKS {
        // Not every kernel has it.
        if name == "core" && find(root, Path::new(target), Links::Refused).is_err() {
            continue;
        }
        match symlinkat(target, &folder, name) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(on("make the link", &Path::new("/dev").join(name))(error)),
        }
    }
    Ok(())
}

/// Attaches a device where nothing is yet, which takes half of the calls; false where something is.
fn attach_new(mount: &OwnedFd, folder: &OwnedFd, name: &Path) -> io::Result<bool> {
    match mknodat(folder, name, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    move_mount(mount, "", folder, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(true)
}
