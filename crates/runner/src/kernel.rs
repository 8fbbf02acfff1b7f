//! What the kernel has to have.

use flake_sys::kernel::is_at_least;
use nix::libc;
use rustix::fs::AtFlags;
use std::io;
use std::ptr;

/// Why this kernel cannot run recipes; nothing when it can.
#[must_use]
pub fn why_not() -> Option<&'static str> {
    (!has_mount_setattr()).then_some("a kernel older than Linux 5.12")
}

/// Whether memory can hold what a launch writes. Before Linux 6.6 it keeps no attributes for an overlay of a normal
/// user, and without them a folder of the image's cannot be removed and made again.
#[must_use]
pub fn is_memory_enough(is_root: bool) -> bool {
    is_root || is_at_least((6, 6))
}

fn has_mount_setattr() -> bool {
    // SAFETY: no pointer is followed before the descriptor is found not to be one.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            -1,
            c"".as_ptr(),
            AtFlags::EMPTY_PATH.bits(),
            ptr::null::<u8>(),
            0,
        )
    };
    result < 0 && io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
}
