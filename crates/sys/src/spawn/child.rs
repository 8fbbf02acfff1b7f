//! The last steps of a new process before it is the command. Nothing here allocates, so that the code
//! is sound between fork and exec.

use super::{Command, Ids, SpawnError, Stage};
use crate::exec::{Descriptors, Program, last_error, park, reset_signals};
use crate::signals::{SignalSet, set_mask};
use nix::libc;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// The length of a failure's report: the stage, three bytes of padding, the error number.
pub(super) const REPORT: usize = 8;

/// A command with everything allocated that its start needs.
pub(super) struct Prepared {
    program: Program,
    descriptors: Descriptors,
    cwd: Option<CString>,
    ids: Option<Ids>,
    umask: Option<u32>,
    ignored: SignalSet,
    blocked: SignalSet,
    terminal: Option<OwnedFd>,
}

impl Prepared {
    pub(super) fn new(command: Command) -> io::Result<Self> {
        let Command { candidates, argv, env, cwd, ids, umask, ignored, blocked, descriptors, terminal } =
            command;
        let program = Program::new(candidates, argv, env)?;
        let descriptors = Descriptors::new(descriptors);
        Ok(Self { program, descriptors, cwd, ids, umask, ignored, blocked, terminal })
    }

    pub(super) fn has_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    pub(super) fn terminal(&self) -> Option<RawFd> {
        self.terminal.as_ref().map(AsRawFd::as_raw_fd)
    }
}

/// Becomes the command, or reports the stage that failed and ends.
pub(super) fn execute(mut prepared: Prepared, report: &OwnedFd) -> ! {
    // Above every number that is filled below.
    let report = match park(report.as_raw_fd(), prepared.descriptors.first_free()) {
        Ok(parked) => parked,
        Err(_) => report.as_raw_fd(),
    };
    let Err((stage, error)) = become_command(&mut prepared);
    let mut bytes = [0; REPORT];
    bytes[0] = stage.code();
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
    reset_signals(prepared.ignored);
    // SAFETY: plain numbers. Failing leaves the process in its parent's group, where it still runs.
    unsafe { libc::setpgid(0, 0) };
    forget_stops(prepared.ignored);
    if let Some(terminal) = prepared.terminal() {
        // SAFETY: plain numbers; SIGTTOU is blocked as all signals are.
        check(Stage::Terminal, unsafe { libc::tcsetpgrp(terminal, libc::getpid()) })?;
    }
    if let Some(mask) = prepared.umask {
        // SAFETY: cannot fail.
        unsafe { libc::umask(mask) };
    }
    if let Some(ids) = &prepared.ids {
        change_user(ids)?;
    }
    if let Some(cwd) = &prepared.cwd {
        // SAFETY: the string ends in NUL.
        check(Stage::Directory, unsafe { libc::chdir(cwd.as_ptr()) })?;
    }
    prepared.descriptors.place().map_err(|error| (Stage::Descriptors, error))?;
    set_mask(prepared.blocked).map_err(|error| (Stage::Process, code(&error)))?;
    Err((Stage::Execute, prepared.program.execute()))
}

/// Forgets stop signals that came while this process still was in its parent's group: whoever continues that group
/// does not reach it any more.
fn forget_stops(ignored: SignalSet) {
    for number in [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU] {
        if !ignored.contains(number) {
            // SAFETY: the actions are no functions; to ignore a signal takes away one that waits.
            unsafe {
                libc::signal(number, libc::SIG_IGN);
                libc::signal(number, libc::SIG_DFL);
            }
        }
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

fn check(stage: Stage, result: i32) -> Result<(), Failed> {
    if result < 0 { Err((stage, last_error())) } else { Ok(()) }
}

fn code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
