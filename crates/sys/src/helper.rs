//! A process that does one thing beside this one: what threads cannot do where namespaces are changed.

use crate::signals::{SignalSet, set_mask};
use nix::libc;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use std::io;

/// A running helper.
#[derive(Debug)]
pub struct Helper(Pid);

/// Starts a helper that does `work`, to which no signals of a terminal get through, and ends with the status that it
/// gives. It has copies of all descriptors. The caller has one thread.
///
/// # Errors
/// No process could be made.
pub fn start(work: impl FnOnce() -> u8) -> io::Result<Helper> {
    // SAFETY: the caller has one thread; the child ends without returning.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(Helper(child)),
        ForkResult::Child => {
            let _ = set_mask(SignalSet::catchable());
            let status = work();
            // SAFETY: ends this process, whose memory is a copy, without running anything of its parent's.
            unsafe { libc::_exit(i32::from(status)) }
        }
    }
}

impl Helper {
    /// Waits for the end; the status, or none when it was killed.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn finish(self) -> io::Result<Option<u8>> {
        loop {
            match waitpid(self.0, None) {
                Ok(WaitStatus::Exited(_, status)) => return Ok(u8::try_from(status).ok()),
                Ok(_) => return Ok(None),
                Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_status_is_its_works() {
        // Test programs have threads, but this one's work needs nothing of theirs.
        assert_eq!(start(|| 7).unwrap().finish().unwrap(), Some(7));
    }
}
