//! What the kernel has to have.

use flake_sys::kernel::is_at_least;
use nix::libc;
use rustix::fs::AtFlags;
use std::io;
use std::ptr;

/// Why this kernel cannot run recipes; nothing when it can. A normal user's take more than root's.
#[must_use]
pub fn why_not(is_root: bool) -> Option<&'static str> {
    if !has_mount_setattr() {
        Some("a kernel older than Linux 5.12")
    } else if !is_root && !is_at_least((6, 6)) {
        // Without them a folder of the image's cannot be removed and made again.
        Some(
            "a kernel older than Linux 6.6, whose memory keeps no attributes for an overlay of a normal user",
        )
    } else {
        None
    }
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
