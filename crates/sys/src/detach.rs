//! Going on without whoever started this process.

use nix::libc;
use nix::unistd::{ForkResult, fork, setsid};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Ends this process with status 0 for whoever waits for it, and goes on as another one, in a session of its
/// own, with nothing on its standard descriptors. For a process with one thread.
///
/// # Errors
/// What the kernel says; then nothing has changed.
pub fn detach() -> io::Result<()> {
    // SAFETY: the process has one thread, so the child has everything that it had.
    match unsafe { fork() }? {
        // SAFETY: ends the process without running what the child is still going to run.
        ForkResult::Parent { .. } => unsafe { libc::_exit(0) },
        ForkResult::Child => {
            setsid()?;
            let null = File::options().read(true).write(true).open("/dev/null")?;
            for standard in 0..3 {
                // SAFETY: both are open; what the number led to belonged to whoever waits.
                unsafe { libc::dup2(null.as_raw_fd(), standard) };
            }
            Ok(())
        }
    }
}
