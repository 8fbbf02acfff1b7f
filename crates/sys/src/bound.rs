//! Programs that do not outlive the process that runs them.

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has a program be asked to end when the thread that starts it ends, also when that is killed.
pub fn bind(command: &mut Command) {
    let parent = getpid();
    // SAFETY: what runs between fork and exec are two system calls that touch no memory of the parent.
    unsafe {
        command.pre_exec(move || {
            set_pdeathsig(Signal::SIGTERM)?;
            if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        });
    }
}
