//! What the kernel has to have.

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

/// Whether the running kernel is of a release or a later one.
pub(crate) fn is_at_least(version: (u32, u32)) -> bool {
    rustix::system::uname().release().to_str().is_ok_and(|release| is_release(release, version))
}

fn is_release(release: &str, version: (u32, u32)) -> bool {
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= version
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_as_numbers() {
        for (release, expected) in [
            ("6.5.0", true),
            ("6.18.44-x", true),
            ("6.4.9", false),
            ("5.15.0-91-generic", false),
            ("7.0", true),
        ] {
            assert_eq!(is_release(release, (6, 5)), expected, "{release}");
        }
    }
}
