//! The session leader of a command on a terminal.

use super::child::{self, Prepared};
use super::{Running, SpawnError};
use nix::libc;
use nix::unistd::ForkResult;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// What a leader tells of its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A signal stopped it.
    Stopped(i32),
    /// It exited with a status.
    Exited(i32),
    /// A signal killed it.
    Killed(i32),
}

/// The process between the caller and a command on a terminal. It ends with the command.
#[derive(Debug)]
pub struct Leader {
    events: File,
}

const FAILED: u8 = 1;
const STARTED: u8 = 2;
const STOPPED: u8 = 3;
const EXITED: u8 = 4;
const KILLED: u8 = 5;
/// An event's length: the kind, the stage of a failure, two bytes of padding, the value.
const RECORD: usize = 8;

impl Leader {
    /// Waits until the leader has started its command.
    pub(super) fn watch(leader: i32, events: OwnedFd) -> Result<Running, SpawnError> {
        let mut watcher = Self { events: events.into() };
        match watcher.read_record().map_err(SpawnError::process)? {
            Some((STARTED, _, pid)) => Ok(Running { pid, leader: Some(watcher) }),
            other => {
                let _ = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(leader), None);
                Err(match other {
                    Some((FAILED, stage, error)) => {
                        let mut report = [0; child::REPORT];
                        report[0] = stage;
                        report[4..].copy_from_slice(&error.to_ne_bytes());
                        child::read_report(report)
                    }
                    _ => SpawnError::process(io::Error::from(io::ErrorKind::UnexpectedEof)),
                })
            }
        }
    }

    /// The next event; blocks until there is one. None once the leader is gone.
    ///
    /// # Errors
    /// What the kernel says to the read.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        Ok(self.read_record()?.and_then(|(kind, _, value)| match kind {
            STOPPED => Some(Event::Stopped(value)),
            EXITED => Some(Event::Exited(value)),
            KILLED => Some(Event::Killed(value)),
            _ => None,
        }))
    }

    fn read_record(&mut self) -> io::Result<Option<(u8, u8, i32)>> {
        let mut record = [0; RECORD];
        match self.events.read_exact(&mut record) {
            Ok(()) => {
                let value = i32::from_ne_bytes([record[4], record[5], record[6], record[7]]);
                Ok(Some((record[0], record[1], value)))
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Leader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

/// Is the leader: opens the session, starts the command, reports on it until it ends.
pub(super) fn run(prepared: Prepared, events: &OwnedFd) -> ! {
    // SAFETY: plain numbers; this process was just forked, so it leads no group yet.
    let session = unsafe {
        libc::setsid() >= 0
            && prepared.terminal().is_some_and(|terminal| libc::ioctl(terminal, libc::TIOCSCTTY, 0) == 0)
    };
    if !session {
        tell(events, FAILED, super::Stage::Terminal as u8, last_error());
        end();
    }
    let Ok((reader, writer)) = io::pipe() else {
        tell(events, FAILED, super::Stage::Process as u8, last_error());
        end();
    };
    // SAFETY: this process has one thread, and its child neither returns nor unwinds.
    match unsafe { nix::unistd::fork() } {
        Ok(ForkResult::Child) => child::execute(prepared, &writer.into()),
        Ok(ForkResult::Parent { child }) => {
            drop(writer);
            let mut report = [0; child::REPORT];
            let failed = { reader }.read(&mut report).unwrap_or(0) > 0;
            if failed {
                let error = i32::from_ne_bytes([report[4], report[5], report[6], report[7]]);
                tell(events, FAILED, report[0], error);
                end();
            }
            tell(events, STARTED, 0, child.as_raw());
            keep_only(events, &prepared);
            watch_command(child.as_raw());
        }
        Err(error) => {
            tell(events, FAILED, super::Stage::Process as u8, error as i32);
            end();
        }
    }
}

/// Moves the events' descriptor to 0 and the terminal to 1, and closes all others, which belong to the
/// caller: a copy held here would keep the reader of a pipe waiting. The terminal stays, for a command that
/// has closed it may open it again by name.
fn keep_only(events: &OwnedFd, prepared: &Prepared) {
    // SAFETY: plain numbers; no owned descriptor of this process is used or dropped afterwards. Copies far
    // up first, for the two may themselves have the low numbers.
    unsafe {
        let events = libc::fcntl(events.as_raw_fd(), libc::F_DUPFD, 3);
        let terminal = libc::fcntl(prepared.terminal().unwrap_or(-1), libc::F_DUPFD, 3);
        libc::dup2(events, 0);
        libc::dup2(terminal, 1);
        if libc::syscall(libc::SYS_close_range, 2, u32::MAX, 0) < 0 {
            // Linux before 5.9.
            for number in 2..super::most_descriptors() {
                libc::close(number);
            }
        }
    }
}

fn watch_command(pid: i32) -> ! {
    // SAFETY: descriptor 0 is the events' since `keep_only`.
    let events = unsafe { BorrowedFd::borrow_raw(0) };
    loop {
        let mut status = 0;
        // SAFETY: the pointer is to a live integer.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, libc::WUNTRACED) };
        if waited < 0 {
            if last_error() == libc::EINTR {
                continue;
            }
            end();
        }
        if libc::WIFSTOPPED(status) {
            tell(&events, STOPPED, 0, libc::WSTOPSIG(status));
        } else {
            if libc::WIFEXITED(status) {
                tell(&events, EXITED, 0, libc::WEXITSTATUS(status));
            } else {
                tell(&events, KILLED, 0, libc::WTERMSIG(status));
            }
            end();
        }
    }
}

fn tell(events: &impl AsFd, kind: u8, stage: u8, value: i32) {
    let mut record = [0; RECORD];
    record[0] = kind;
    record[1] = stage;
    record[4..].copy_from_slice(&value.to_ne_bytes());
    let _ = rustix::io::write(events, &record);
}

fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn end() -> ! {
    // SAFETY: ends the process without running anything of the caller's.
    unsafe { libc::_exit(0) }
}
