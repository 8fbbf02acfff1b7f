//! The session keyring (session-keyring(7)): the command has one of its own, as under every OCI runtime, so that the
//! keys of the caller's session are not its.

use crate::child::Errno;
use flake_sys::exec::last_error;
use nix::libc;
use std::thread::sleep;
use std::time::Duration;

/// `KEYCTL_JOIN_SESSION_KEYRING` of keyctl(2).
const JOIN_SESSION_KEYRING: libc::c_long = 1;
/// The keyrings of commands that have just ended count for a moment longer.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(1);

/// Joins a new keyring, where the kernel has any.
pub(crate) fn join_new() -> Result<(), Errno> {
    for _ in 0..TRIES {
        // SAFETY: plain numbers and a null pointer, which asks for a keyring without a name.
        let result = unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<u8>()) };
        if result >= 0 {
            return Ok(());
        }
        match last_error() {
            // A kernel without keyrings, and a host that lets nobody have them.
            libc::ENOSYS | libc::EOPNOTSUPP | libc::EPERM => return Ok(()),
            libc::EDQUOT => sleep(PAUSE),
            error => return Err(error),
        }
    }
    Err(libc::EDQUOT)
}
