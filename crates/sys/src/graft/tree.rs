//! A folder's mount with those below it, attached nowhere yet.

use nix::libc;
use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;
use rustix::mount::{MountAttrFlags, MountPropagationFlags, OpenTreeFlags, open_tree};
use std::os::fd::{AsRawFd, OwnedFd};

/// `AT_RECURSIVE` of the kernel's fcntl.h.
const RECURSIVE: u32 = 0x8000;

/// `struct mount_attr` of mount_setattr(2).
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

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
        let attr = MountAttr {
            set: u64::from(set.bits()),
            clear: 0,
            propagation: u64::from(MountPropagationFlags::PRIVATE.bits()),
            user_namespace: 0,
        };
        // SAFETY: the path ends in NUL and the structure is as long as said; both live through the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_mount_setattr,
                self.0.as_raw_fd(),
                c"".as_ptr(),
                AtFlags::EMPTY_PATH.bits() | RECURSIVE,
                &raw const attr,
                size_of::<MountAttr>(),
            )
        };
        if result == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(crate::exec::last_error())) }
    }
}
