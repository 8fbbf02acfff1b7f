//! File systems and mounts that are not attached anywhere yet, by the calls of fsopen(2), open_tree(2) and
//! mount_setattr(2).

use flake_plan::MountFlags;
use flake_sys::mount_attributes::Change;
use rustix::fs::StatFs;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Types of file systems (statfs(2)): the processes, the kernel's objects, the control groups of version 2.
pub(crate) const PROC: u64 = 0x9fa0;
pub(crate) const SYS: u64 = 0x6265_6572;
pub(crate) const CGROUP2: u64 = 0x6367_7270;

/// The type of a file system.
pub(crate) fn kind(stat: &StatFs) -> u64 {
    u64::try_from(stat.f_type).unwrap_or(0)
}

/// A mount option with its value, if it has one.
pub(crate) type MountOption = (String, Option<String>);

/// A new file system of a type, mounted nowhere yet.
pub(crate) fn new(kind: &str, options: &[MountOption], flags: MountFlags) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        set(&context, name, value.as_deref())?;
    }
    create(&context, flags)
}

/// Sets one option of a file system that is being made.
pub(crate) fn set(context: &OwnedFd, name: &str, value: Option<&str>) -> io::Result<()> {
    match value {
        Some(value) => fsconfig_set_string(context, name, value)?,
        None => fsconfig_set_flag(context, name)?,
    }
    Ok(())
}

/// Makes the file system and a mount of it.
pub(crate) fn create(context: &OwnedFd, flags: MountFlags) -> io::Result<OwnedFd> {
    fsconfig_create(context)?;
    Ok(fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, attributes(flags))?)
}

/// The flags as attributes of a mount. No device works on it.
fn attributes(flags: MountFlags) -> MountAttrFlags {
    use MountAttrFlags as Attr;
    let mut attributes = Attr::MOUNT_ATTR_NODEV;
    for (is_set, attribute) in [
        (flags.read_only, Attr::MOUNT_ATTR_RDONLY),
        (flags.no_suid, Attr::MOUNT_ATTR_NOSUID),
        (flags.no_exec, Attr::MOUNT_ATTR_NOEXEC),
        (flags.no_atime, Attr::MOUNT_ATTR_NOATIME),
        (flags.strict_atime, Attr::MOUNT_ATTR_STRICTATIME),
        (flags.no_dir_atime, Attr::MOUNT_ATTR_NODIRATIME),
    ] {
        if is_set {
            attributes |= attribute;
        }
    }
    attributes
}

/// A copy of the mount at a path, or of a single file of it, attached nowhere yet.
pub(crate) fn copy<Fd: AsFd>(folder: Fd, path: &Path, is_recursive: bool) -> io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    if is_recursive {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    if path.as_os_str().is_empty() {
        flags |= OpenTreeFlags::AT_EMPTY_PATH;
    }
    Ok(open_tree(folder, path, flags)?)
}

/// Attaches a mount over what a descriptor leads to.
pub(crate) fn attach(mount: &OwnedFd, place: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, "", place, "", flags)?)
}

/// Adds flags to a mount, and to all below it where they hold for those.
pub(crate) fn restrict(mount: &OwnedFd, flags: MountFlags) -> io::Result<()> {
    let changes_times = flags.no_atime || flags.strict_atime;
    let clear = if changes_times { MountAttrFlags::MOUNT_ATTR__ATIME } else { MountAttrFlags::empty() };
    change(mount, attributes(flags), clear, flags.recursive)
}

/// Lets the device files of a mount work, in which there is no program then.
pub(crate) fn permit_device(mount: &OwnedFd) -> io::Result<()> {
    let set = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    change(mount, set, MountAttrFlags::MOUNT_ATTR_NODEV, false)
}

fn change(mount: &OwnedFd, set: MountAttrFlags, clear: MountAttrFlags, is_recursive: bool) -> io::Result<()> {
    let propagation = MountPropagationFlags::empty();
    Ok(Change { set, clear, propagation, is_recursive }.make(mount)?)
}
