//! Starting a command exactly as told: its descriptors, terminal, user, signals and nothing else.
//!
//! On a terminal the command gets a *leader*: a process that is the session's leader, keeps the
//! command in a foreground group of its own and watches it. Without one the command's group would be
//! orphaned, and ^Z could not stop it.

mod child;
mod leader;

pub use leader::{Event, Leader};

use crate::signals::{SignalSet, set_mask};
use nix::unistd::ForkResult;
use std::ffi::CString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

/// What is to run and how. Signals not named take their default action.
#[derive(Debug)]
pub struct Command {
    /// Paths tried in turn, as a lookup in `PATH` does.
    pub candidates: Vec<CString>,
    /// The words, the program's own first.
    pub argv: Vec<CString>,
    /// The whole environment, `NAME=value` each.
    pub env: Vec<CString>,
    /// Working directory; absent: the caller's.
    pub cwd: Option<CString>,
    /// User, group and supplementary groups; absent: the caller's.
    pub ids: Option<Ids>,
    /// File mode creation mask; absent: the caller's.
    pub umask: Option<u32>,
    /// Signals that the command ignores from its start.
    pub ignored: SignalSet,
    /// Signals that the command blocks from its start.
    pub blocked: SignalSet,
    /// The descriptors of the command and their numbers. All others are closed.
    pub descriptors: Vec<(u16, OwnedFd)>,
    /// The controlling terminal.
    pub terminal: Option<OwnedFd>,
}

/// Numeric user identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    /// User id, real, effective and saved.
    pub uid: u32,
    /// Group id, real, effective and saved.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
}

/// What could not be done on the way to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Making the process.
    Process,
    /// Making the terminal its controlling terminal.
    Terminal,
    /// Changing user and groups.
    User,
    /// Changing to the working directory.
    Directory,
    /// Putting the descriptors in place.
    Descriptors,
    /// Executing the program.
    Execute,
    /// Limiting what it may do.
    Confine,
}

impl Stage {
    const ALL: [Self; 7] = [
        Self::Process,
        Self::Terminal,
        Self::User,
        Self::Directory,
        Self::Descriptors,
        Self::Execute,
        Self::Confine,
    ];

    /// A byte that stands for it between two processes of this program.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// What such a byte stands for.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or(Self::Process)
    }
}

/// The command was not started.
#[derive(Debug)]
pub struct SpawnError {
    /// What could not be done.
    pub stage: Stage,
    /// Why.
    pub source: io::Error,
}

impl SpawnError {
    fn process(source: impl Into<io::Error>) -> Self {
        Self { stage: Stage::Process, source: source.into() }
    }
}

/// A running command.
#[derive(Debug)]
pub struct Running {
    /// The command's process id, which is its process group's too.
    pub pid: i32,
    /// Its leader, on a terminal. Without one the command is the caller's own child.
    pub leader: Option<Leader>,
}

/// Starts a command and returns once it was executed.
///
/// The caller must have one thread only: the new process runs code of this program before it executes
/// the command.
///
/// # Errors
/// The stage that failed, and why.
pub fn spawn(command: Command) -> Result<Running, SpawnError> {
    if !has_one_thread() {
        return Err(SpawnError::process(io::Error::other("a process with threads cannot start a command")));
    }
    let (mut reader, writer) = io::pipe().map_err(SpawnError::process)?;
    let prepared = child::Prepared::new(command).map_err(SpawnError::process)?;
    let before = current_mask().map_err(SpawnError::process)?;
    // No signal may find the new process between fork and exec with handlers of this program.
    set_mask(SignalSet::from_bits(u64::MAX)).map_err(SpawnError::process)?;
    // SAFETY: the caller has one thread, so no lock is held by a thread that the child lacks; the child
    // neither returns nor unwinds.
    let forked = unsafe { nix::unistd::fork() };
    if let Ok(ForkResult::Child) = forked {
        drop(reader);
        if prepared.has_terminal() {
            leader::run(prepared, &writer.into());
        }
        child::execute(prepared, &writer.into());
    }
    let restored = set_mask(before);
    let Ok(ForkResult::Parent { child }) = forked else {
        return Err(SpawnError::process(forked.err().unwrap_or(nix::errno::Errno::EAGAIN)));
    };
    restored.map_err(SpawnError::process)?;
    drop(writer);
    let has_terminal = prepared.has_terminal();
    drop(prepared);

    if has_terminal {
        return Leader::watch(child.as_raw(), reader.into());
    }
    let mut report = [0; child::REPORT];
    match reader.read(&mut report) {
        Ok(0) => Ok(Running { pid: child.as_raw(), leader: None }),
        Ok(_) => {
            let _ = nix::sys::wait::waitpid(child, None);
            Err(child::read_report(report))
        }
        Err(error) => Err(SpawnError::process(error)),
    }
}

/// Waits until the threads that have ended are gone for the kernel as well, which is a moment after they were joined;
/// not for long.
pub fn await_one_thread() {
    for _ in 0..100 {
        if has_one_thread() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Whether this process has one thread: its folder of tasks then has one folder, beside its own two names.
/// Without /proc it is the caller's word that counts.
fn has_one_thread() -> bool {
    rustix::fs::stat("/proc/self/task").map_or(true, |tasks| tasks.st_nlink <= 3)
}

/// One more than the largest number a descriptor can have here, within reason.
pub(crate) fn most_descriptors() -> i32 {
    let mut limit = nix::libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a live structure.
    unsafe { nix::libc::getrlimit(nix::libc::RLIMIT_NOFILE, &raw mut limit) };
    i32::try_from(limit.rlim_cur).unwrap_or(1 << 20).clamp(1024, 1 << 20)
}

fn current_mask() -> io::Result<SignalSet> {
    let mut bits = 0_u64;
    // SAFETY: a null new mask only reads; the pointer is to a live u64, the size of the kernel's set.
    let result = unsafe {
        nix::libc::syscall(
            nix::libc::SYS_rt_sigprocmask,
            nix::libc::SIG_SETMASK,
            std::ptr::null::<u64>(),
            &raw mut bits,
            size_of::<u64>(),
        )
    };
    if result == 0 { Ok(SignalSet::from_bits(bits)) } else { Err(io::Error::last_os_error()) }
}
