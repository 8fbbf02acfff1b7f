//! A folder's mount with those below it, attached nowhere yet.

use crate::mount_attributes::Change;
use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{MountAttrFlags, MountPropagationFlags, OpenTreeFlags, open_tree};
use std::os::fd::OwnedFd;

/// The copy.
#[derive(Debug)]
pub(super) struct Tree(pub(super) OwnedFd);

impl Tree {
    /// Of the working directory, without looking up any name.
    pub(super) fn of_working_directory() -> Result<Self, Errno> {
        let flags = OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        open_tree(CWD, "", flags).map(Self)
    }

    /// No devices, no set-user-id programs, no writing if so wished, and no mount comes or goes with one of the host.
    pub(super) fn confine(&self, read_only: bool) -> Result<(), Errno> {
        let mut set = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID;
        if read_only {
            set |= MountAttrFlags::MOUNT_ATTR_RDONLY;
        }
        let (clear, propagation) = (MountAttrFlags::empty(), MountPropagationFlags::PRIVATE);
        Change { set, clear, propagation, is_recursive: true }.make(&self.0)
    }
}
