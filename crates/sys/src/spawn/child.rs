//! The last steps of a new process before it is the command. Nothing here allocates, so that the code
//! is sound between fork and exec.

use super::{Command, Ids, SpawnError, Stage};
use crate::signals::set_mask;
use nix::libc;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;

/// The length of a failure's report: the stage, three bytes of padding, the error number.
pub(super) const REPORT: usize = 8;

/// A command with everything allocated that its start needs.
pub(super) struct Prepared {
    command: Command,
    argv: Vec<*const libc::c_char>,
    /// The words for a script without an interpreter line: `sh`, the script, its words.
    script_argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
    /// Where each descriptor waits while the numbers below are being filled.
    parked: Vec<RawFd>,
}

const SHELL: &CStr = c"/bin/sh";

impl Prepared {
    pub(super) fn new(command: Command) -> io::Result<Self> {
        if command.argv.is_empty() || command.candidates.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a command without words"));
        }
        let argv = pointers(&command.argv);
        let mut script_argv = vec![SHELL.as_ptr(), ptr::null()];
        script_argv.extend_from_slice(&argv[1..]);
        let env = pointers(&command.env);
        let parked = Vec::with_capacity(command.descriptors.len());
        Ok(Self { argv, script_argv, env, parked, command })
    }

    pub(super) fn has_terminal(&self) -> bool {
        self.command.terminal.is_some()
    }

    /// The lowest number above all that the command asked for.
    fn first_free(&self) -> RawFd {
        self.command.descriptors.iter().map(|(number, _)| RawFd::from(*number) + 1).fold(3, RawFd::max)
    }

    pub(super) fn terminal(&self) -> Option<RawFd> {
        self.command.terminal.as_ref().map(AsRawFd::as_raw_fd)
    }
}

fn pointers(words: &[CString]) -> Vec<*const libc::c_char> {
    words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect()
}

/// Becomes the command, or reports the stage that failed and ends.
pub(super) fn execute(mut prepared: Prepared, report: &OwnedFd) -> ! {
    // Above every number that is filled below.
    let report = match park(report.as_raw_fd(), prepared.first_free()) {
        Ok(parked) => parked,
        Err(_) => report.as_raw_fd(),
    };
    let Err((stage, error)) = become_command(&mut prepared);
    let mut bytes = [0; REPORT];
    bytes[0] = stage as u8;
    bytes[4..].copy_from_slice(&error.to_ne_bytes());
    // SAFETY: the buffer is as long as said; the process ends without running anything of the parent's.
    unsafe {
        libc::write(report, bytes.as_ptr().cast(), REPORT);
        libc::_exit(127)
    }
}

/// The failure that [`execute`] wrote.
pub(super) fn read_report(bytes: [u8; REPORT]) -> SpawnError {
    let error = i32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    SpawnError { stage: Stage::from_code(bytes[0]), source: io::Error::from_raw_os_error(error) }
}

type Failed = (Stage, i32);

fn become_command(prepared: &mut Prepared) -> Result<std::convert::Infallible, Failed> {
    reset_signals(prepared);
    // SAFETY: plain numbers. Failing leaves the process in its parent's group, where it still runs.
    unsafe { libc::setpgid(0, 0) };
    if let Some(terminal) = prepared.terminal() {
        // SAFETY: plain numbers; SIGTTOU is blocked as all signals are.
        check(Stage::Terminal, unsafe { libc::tcsetpgrp(terminal, libc::getpid()) })?;
    }
    if let Some(mask) = prepared.command.umask {
        // SAFETY: cannot fail.
        unsafe { libc::umask(mask) };
    }
    if let Some(ids) = &prepared.command.ids {
        change_user(ids)?;
    }
    if let Some(cwd) = &prepared.command.cwd {
        // SAFETY: the string ends in NUL.
        check(Stage::Directory, unsafe { libc::chdir(cwd.as_ptr()) })?;
    }
    place_descriptors(prepared)?;
    set_mask(prepared.command.blocked).map_err(|error| (Stage::Process, code(&error)))?;
    Err((Stage::Execute, run(prepared)))
}

/// Default actions for all signals but those the command is to ignore.
fn reset_signals(prepared: &Prepared) {
    for number in 1..=64 {
        let action = if prepared.command.ignored.contains(number) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: the action is no function; the numbers that cannot be set are refused by the kernel.
        unsafe { libc::signal(number, action) };
    }
}

fn change_user(ids: &Ids) -> Result<(), Failed> {
    // SAFETY: the pointer and length are of a live vector; the others are plain numbers.
    unsafe {
        check(Stage::User, libc::setgroups(ids.groups.len(), ids.groups.as_ptr()))?;
        check(Stage::User, libc::setresgid(ids.gid, ids.gid, ids.gid))?;
        check(Stage::User, libc::setresuid(ids.uid, ids.uid, ids.uid))
    }
}

/// Fills the numbers the command asked for and sees to it that no other descriptor is open in it, also
/// none that this program inherited.
fn place_descriptors(prepared: &mut Prepared) -> Result<(), Failed> {
    let above = prepared.first_free();
    for (_, descriptor) in &prepared.command.descriptors {
        // Within the capacity reserved in the parent.
        prepared.parked.push(park(descriptor.as_raw_fd(), above)?);
    }
    close_on_exec_from(3);
    for standard in 0..3 {
        // SAFETY: a plain number, of which nothing in this process is used any more.
        unsafe { libc::close(standard) };
    }
    for ((number, _), parked) in prepared.command.descriptors.iter().zip(&prepared.parked) {
        // SAFETY: plain numbers; the copy is not closed on exec.
        check(Stage::Descriptors, unsafe { libc::dup2(*parked, RawFd::from(*number)) })?;
    }
    Ok(())
}

/// Marks all descriptors from a number up as closed on exec.
fn close_on_exec_from(first: RawFd) {
    // SAFETY: plain numbers.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, RawFd::MAX, libc::CLOSE_RANGE_CLOEXEC) == 0 {
            return;
        }
        // Linux before 5.11.
        for number in first..super::most_descriptors() {
            libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Copies a descriptor to a number of at least `above`, closed on exec.
fn park(descriptor: RawFd, above: RawFd) -> Result<RawFd, Failed> {
    // SAFETY: plain numbers.
    let parked = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, above) };
    check(Stage::Descriptors, parked)?;
    Ok(parked)
}

/// Tries the candidates as a lookup in `PATH` does; returns the error that decides.
fn run(prepared: &mut Prepared) -> i32 {
    let mut decisive = libc::ENOENT;
    for candidate in &prepared.command.candidates {
        // SAFETY: the strings end in NUL and the arrays in a null pointer, all alive in `prepared`.
        unsafe { libc::execve(candidate.as_ptr(), prepared.argv.as_ptr(), prepared.env.as_ptr()) };
        match last_error() {
            libc::ENOEXEC => {
                prepared.script_argv[1] = candidate.as_ptr();
                return run_script(prepared);
            }
            libc::ENOENT | libc::ENOTDIR => {}
            libc::EACCES => decisive = libc::EACCES,
            error => return error,
        }
    }
    decisive
}

/// A file without a format the kernel knows is a shell script, as for `execvp`.
fn run_script(prepared: &Prepared) -> i32 {
    // SAFETY: as above.
    unsafe { libc::execve(SHELL.as_ptr(), prepared.script_argv.as_ptr(), prepared.env.as_ptr()) };
    libc::ENOEXEC
}

fn check(stage: Stage, result: i32) -> Result<(), Failed> {
    if result < 0 { Err((stage, last_error())) } else { Ok(()) }
}

fn last_error() -> i32 {
    code(&io::Error::last_os_error())
}

fn code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
