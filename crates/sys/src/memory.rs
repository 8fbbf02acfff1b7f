//! Memory that is not used any more.

use nix::libc;

/// From this size on a piece is the kernel's again as soon as it is not used, in bytes: glibc's own figure.
const LARGE: i32 = 128 << 10;

/// Keeps the allocator from holding back large pieces: without this each one that is given back raises the size from
/// which that is done, up to 32 MiB (mallopt(3), `M_MMAP_THRESHOLD`). For processes that live long and wait.
pub fn keep_little() {
    for parameter in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
        // SAFETY: it sets a number; nothing else is allocated at the same time by a process of one thread.
        unsafe { libc::mallopt(parameter, LARGE) };
    }
}
