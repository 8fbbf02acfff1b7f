//! Attributes of mounts that are there, by mount_setattr(2).

use nix::libc;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use rustix::mount::{MountAttrFlags, MountPropagationFlags};
use std::os::fd::{AsFd, AsRawFd};

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

/// What changes.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// Attributes that are set.
    pub set: MountAttrFlags,
    /// Attributes that are cleared before.
    pub clear: MountAttrFlags,
    /// The propagation, unless it stays.
    pub propagation: MountPropagationFlags,
    /// Whether it holds for all mounts below as well.
    pub is_recursive: bool,
}

impl Change {
    /// Changes a mount.
    ///
    /// # Errors
    /// What the kernel says; `ENOSYS` before Linux 5.12.
    pub fn make(&self, mount: impl AsFd) -> Result<(), Errno> {
        let attr = MountAttr {
            set: u64::from(self.set.bits()),
            clear: u64::from(self.clear.bits()),
            propagation: u64::from(self.propagation.bits()),
            user_namespace: 0,
        };
        // SAFETY: the path ends in NUL and the structure is as long as said; both live through the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_mount_setattr,
                mount.as_fd().as_raw_fd(),
                c"".as_ptr(),
                AtFlags::EMPTY_PATH.bits() | if self.is_recursive { RECURSIVE } else { 0 },
                &raw const attr,
                size_of::<MountAttr>(),
            )
        };
        if result == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(crate::exec::last_error())) }
    }
}
