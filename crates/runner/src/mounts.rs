//! The mounts of a recipe.

use crate::error::{RunError, on};
use crate::filesystem::{self, CGROUP2, MountOption, PROC, SYS};
use crate::memory;
use crate::mountpoint::{Kind, Links, file_type, find_or_make};
use flake_plan::{Entry, EntryKind, Mount, MountFlags, MountKind, Recipe};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstatfs, openat, stat, statfs};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

const CGROUPS: &str = "/sys/fs/cgroup";

/// A mount that is made, to be attached in the root.
pub(crate) struct Ready {
    /// What.
    pub(crate) mount: OwnedFd,
    /// Where.
    pub(crate) destination: PathBuf,
    /// What has to be there.
    pub(crate) kind: Kind,
    /// Whether links lead there.
    pub(crate) links: Links,
}

impl Ready {
    /// Attaches it in the root.
    pub(crate) fn attach(self, root: BorrowedFd<'_>) -> Result<(), RunError> {
        let path = &self.destination;
        let place = find_or_make(root, path, self.kind, self.links).map_err(on("make a place for", path))?;
        if self.links == Links::Followed && is_kernels(&place, path) {
            return Err(on("mount over the kernel's own files at", path)(Errno::LOOP));
        }
        filesystem::attach(&self.mount, place.as_fd()).map_err(on("mount", path))
    }
}

/// Whether all is there that is shared, and is what it was, as far as this user can tell: a folder is not mounted
/// where there is a place for a file.
pub(crate) fn check(recipe: &Recipe) -> Result<(), RunError> {
    for mount in &recipe.mounts {
        let MountKind::Bind { source, .. } = &mount.kind else { continue };
        let is_folder = match stat(source) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode) == FileType::Directory,
            Err(Errno::NOENT | Errno::NOTDIR) => return Err(RunError::ShareMissing(source.clone())),
            Err(_) => continue,
        };
        let place = mount.destination.strip_prefix("/").unwrap_or(&mount.destination);
        let is_other =
            |entry: &&Entry| entry.path == place && is_folder != matches!(entry.kind, EntryKind::Folder);
        if recipe.upper.iter().any(|entry| is_other(&entry)) {
            return Err(RunError::ShareMissing(source.clone()));
        }
    }
    Ok(())
}

/// Makes a mount.
pub(crate) fn make(mount: &Mount, root: BorrowedFd<'_>, files: &mut Files) -> Result<Ready, RunError> {
    let destination = mount.destination.clone();
    let made = on("make the mount of", &destination);
    let (kind, links) = match &mount.kind {
        MountKind::File { .. } => (Kind::File, Links::Followed),
        MountKind::Tmpfs { .. } if destination != Path::new("/dev") => (Kind::Folder, Links::Followed),
        _ => (Kind::Folder, Links::Refused),
    };
    let flags = mount.flags;
    let mount = match &mount.kind {
        MountKind::Proc => filesystem::new("proc", &[], flags),
        MountKind::Sys => filesystem::new("sysfs", &[], flags),
        MountKind::Tmpfs { options, is_copied_up } => {
            memory::over(root, &destination, options, *is_copied_up, flags)
        }
        MountKind::Devpts(options) => terminals(options, flags),
        MountKind::Mqueue => filesystem::new("mqueue", &[], flags),
        MountKind::Cgroup => cgroup(flags),
        MountKind::File { content, mode } => files.add(content, *mode, flags),
        MountKind::Bind { .. } => Err(io::ErrorKind::InvalidInput.into()),
    };
    Ok(Ready { mount: mount.map_err(made)?, destination, kind, links })
}

/// Terminals are devices, of which there is nothing else in there.
fn terminals(options: &[MountOption], flags: MountFlags) -> io::Result<OwnedFd> {
    let mount = filesystem::new("devpts", &without_new_instance(options), flags)?;
    filesystem::permit_device(&mount)?;
    Ok(mount)
}

/// Every instance is a new one since Linux 4.7, and the word is not known any more to fsconfig(2).
fn without_new_instance(options: &[MountOption]) -> Vec<MountOption> {
    options.iter().filter(|(name, _)| name != "newinstance").cloned().collect()
}

/// What the hierarchy shows of the namespace. On a host with version 1 the controllers of the caller's groups would
/// be of no use: the folder is empty.
fn cgroup(flags: MountFlags) -> io::Result<OwnedFd> {
    if !statfs(CGROUPS).is_ok_and(|stat| filesystem::kind(&stat) == CGROUP2) {
        return filesystem::new("tmpfs", &[("mode".into(), Some("0755".into()))], flags);
    }
    match filesystem::new("cgroup2", &[], flags) {
        // Without a namespace of its own a user may only look at the host's.
        Err(error) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {
            let mount = filesystem::copy(CWD, Path::new(CGROUPS), true)?;
            filesystem::restrict(&mount, flags)?;
            Ok(mount)
        }
        made => made,
    }
}

/// Whether the image leads a path that does not say so to the kernel's own files.
fn is_kernels(place: &OwnedFd, path: &Path) -> bool {
    let kind = fstatfs(place).map_or(0, |stat| filesystem::kind(&stat));
    kind == PROC || kind == SYS && !path.starts_with("/sys")
}

/// The copy of what a mount shares of the host, if it does.
pub(crate) fn share(mount: &Mount) -> Result<Option<Ready>, RunError> {
    let MountKind::Bind { source, is_recursive } = &mount.kind else { return Ok(None) };
    let copy = filesystem::copy(CWD, source, *is_recursive).map_err(on("share", source))?;
    // What is mounted below is not to be more open than what it is shared as.
    let flags = MountFlags { recursive: true, ..mount.flags };
    restricted(copy, source, mount.destination.clone(), flags).map(Some)
}

/// A copied mount with flags of its own.
pub(crate) fn restricted(
    mount: OwnedFd,
    source: &Path,
    destination: PathBuf,
    flags: MountFlags,
) -> Result<Ready, RunError> {
    filesystem::restrict(&mount, flags).map_err(on("restrict the share of", source))?;
    let kind = match file_type(&mount).map_err(on("look at", source))? {
        FileType::Directory => Kind::Folder,
        _ => Kind::File,
    };
    Ok(Ready { mount, destination, kind, links: Links::Followed })
}

/// Files with given content, in a folder of memory that is mounted somewhere: only then can it be copied on every
/// kernel.
#[derive(Debug)]
pub(crate) struct Files {
    folder: OwnedFd,
    count: u32,
}

impl Files {
    /// In this folder.
    pub(crate) fn new(folder: OwnedFd) -> Self {
        Self { folder, count: 0 }
    }

    fn add(&mut self, content: &[u8], mode: u32, flags: MountFlags) -> io::Result<OwnedFd> {
        let name = self.count.to_string();
        self.count += 1;
        let create = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.folder, &name, create, Mode::from_raw_mode(mode))?);
        file.write_all(content)?;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        let mount = filesystem::copy(&self.folder, Path::new(&name), false)?;
        filesystem::restrict(&mount, MountFlags { no_suid: true, ..flags })?;
        Ok(mount)
    }
}
