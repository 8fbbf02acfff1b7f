//! Staying until the command has ended: signals that are for it, and stops.

use crate::init::{QUESTION, question};
use flake_sys::inherited;
use flake_sys::signals::{self, Received, SignalFd, SignalSet, is_stop};
use nix::libc;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpgid, getpgrp, getpid, getsid, setpgid, waitpid,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How long the init may take for an answer, in nanoseconds.
const PATIENCE: i64 = 50_000_000;
/// What a terminal sends to a whole group.
const TERMINALS: [i32; 6] =
    [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU, libc::SIGWINCH];

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited with a status.
    Exited(u8),
    /// A signal killed it.
    Killed(i32),
}

/// The processes of a call, seen from their parent.
pub(crate) struct Foreground {
    pub(crate) signals: SignalFd,
    /// The first process of the namespace.
    pub(crate) init: Pid,
    /// The command.
    pub(crate) command: Pid,
    /// The init's answers.
    pub(crate) answers: OwnedFd,
    /// What the init knows that a question comes from here by.
    pub(crate) secret: u32,
    /// The host's `/dev/null`.
    pub(crate) null: OwnedFd,
    /// The numbers of the command's descriptors, which this process has as well.
    pub(crate) passed: Vec<u16>,
    /// The terminal, and the group that was in its foreground.
    pub(crate) terminal: Option<OwnedFd>,
}

impl Foreground {
    /// Waits for the end.
    pub(crate) fn stay(&self) -> io::Result<End> {
        loop {
            self.wait_for_something()?;
            while let Some(received) = self.signals.next_signal()? {
                self.receive(received);
            }
            if let Some(end) = self.look_at_command()? {
                return Ok(end);
            }
        }
    }

    fn wait_for_something(&self) -> io::Result<()> {
        match poll(&mut [PollFd::new(&self.signals, PollFlags::IN)], None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The command runs: whoever reads its output or writes its input is to see when *it* closes them.
    pub(crate) fn let_go(&self) {
        for number in &self.passed {
            inherited::release_to(*number, self.null.as_fd());
        }
    }

    /// What has come before there is a command, which is to get it whoever else has.
    pub(crate) fn early(&self) -> io::Result<Vec<i32>> {
        let mut early = Vec::new();
        while let Some(received) = self.signals.next_signal()? {
            if received.number != libc::SIGCHLD {
                // The init forgets it.
                self.went_to_group(received.number);
                early.push(received.number);
            }
        }
        Ok(early)
    }

    /// Sends the command a signal.
    pub(crate) fn send(&self, number: i32) {
        let _ = signals::send(self.command.as_raw_nonzero().get(), number, false);
    }

    /// Hands a signal on, unless the command has got it as well: it is in the same process group, to which a terminal
    /// sends its signals, and a shell many of its own.
    fn receive(&self, received: Received) {
        let Received { number, by_kernel } = received;
        if number == libc::SIGCHLD {
            return;
        }
        // Also where the answer does not count: the init forgets the signal.
        let went_to_group = self.went_to_group(number) || was_overtaken(number);
        let is_the_commands = match number {
            // A terminal that hangs up tells the session's leader alone.
            libc::SIGHUP | libc::SIGCONT if by_kernel => is_session_leader() && !went_to_group,
            _ if by_kernel && TERMINALS.contains(&number) => false,
            // A timer's, for one, that was set before the call.
            _ if by_kernel => true,
            _ => !(went_to_group && self.is_in_group()),
        };
        if is_the_commands {
            self.send(number);
        }
    }

    fn is_in_group(&self) -> bool {
        getpgid(Some(self.command)).is_ok_and(|group| group == getpgrp())
    }

    /// Whether a signal that this process has got went to its whole group: then the init has got it too.
    fn went_to_group(&self, number: i32) -> bool {
        // Nothing changes, but the kernel does it after all of the group have got what is being sent to it.
        let _ = setpgid(None, Some(getpgrp()));
        // An answer that came too late for an earlier question.
        while read(&self.answers, &mut [0]).is_ok_and(|count| count > 0) {}
        let init = self.init.as_raw_nonzero().get();
        let value = libc::sigval { sival_ptr: question(self.secret, number) };
        // SAFETY: plain numbers; the value is no pointer for either side.
        if unsafe { libc::sigqueue(init, QUESTION, value) } != 0 {
            return false;
        }
        let mut answer = [0];
        let patience = Timespec { tv_sec: 0, tv_nsec: PATIENCE };
        match poll(&mut [PollFd::new(&self.answers, PollFlags::IN)], Some(&patience)) {
            Ok(1..) => read(&self.answers, &mut answer) == Ok(1) && answer[0] != 0,
            // It was stopped with the group, and this process alone goes on.
            _ => {
                let _ = signals::send(init, libc::SIGCONT, false);
                false
            }
        }
    }

    /// The command's end, if it has; a stop is this process' too.
    fn look_at_command(&self) -> io::Result<Option<End>> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
        loop {
            let status = match waitpid(Some(self.command), options) {
                Ok(Some((_, status))) => status,
                Ok(None) => return Ok(None),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if let Some(end) = end(status) {
                return Ok(Some(end));
            }
            if let Some(signal) = status.stopping_signal() {
                self.stop(signal);
            }
        }
    }

    /// The command was stopped: so is this process, as the shell expects, until it is continued.
    fn stop(&self, signal: i32) {
        let is_a_stop = is_stop(signal) || signal == Signal::STOP.as_raw();
        signals::stop_by(if is_a_stop { signal } else { Signal::STOP.as_raw() });
    }

    /// Ends everything that is left inside, and gives the terminal back that a job of the command's may have taken.
    pub(crate) fn clear_up(&self) {
        let _ = signals::send(self.init.as_raw_nonzero().get(), libc::SIGKILL, false);
        while let Err(Errno::INTR) = waitpid(Some(self.init), WaitOptions::empty()) {}
        if let Some(terminal) = &self.terminal {
            give_back(terminal.as_fd());
        }
    }
}

/// Whether a stop came after a continue or the other way round: the kernel takes the first away where it was not taken
/// yet, as from the init.
fn was_overtaken(number: i32) -> bool {
    let opposites: &[i32] = match number {
        libc::SIGCONT => &[libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU],
        libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => &[libc::SIGCONT],
        _ => return false,
    };
    let _ = setpgid(None, Some(getpgrp()));
    let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is read only where the call has filled it.
    unsafe {
        libc::sigpending(pending.as_mut_ptr()) == 0
            && opposites.iter().any(|opposite| libc::sigismember(pending.as_ptr(), *opposite) == 1)
    }
}

fn is_session_leader() -> bool {
    getsid(None).is_ok_and(|session| session == getpid())
}

/// Makes this process' group the terminal's foreground again, when the one that is has nobody left in it.
fn give_back(terminal: BorrowedFd<'_>) {
    let is_deserted = match tcgetpgrp(terminal) {
        Ok(group) => {
            group != getpgrp() && rustix::process::test_kill_process_group(group) == Err(Errno::SRCH)
        }
        // A group that this process cannot see.
        Err(_) => false,
    };
    if is_deserted {
        // SIGTTOU, which a process in the background gets for it, is blocked.
        let _ = tcsetpgrp(terminal, getpgrp());
    }
}

fn end(status: WaitStatus) -> Option<End> {
    if let Some(code) = status.exit_status() {
        return Some(End::Exited(u8::try_from(code & 0xff).unwrap_or(u8::MAX)));
    }
    status.terminating_signal().map(End::Killed)
}

/// Signals that are received while a command runs.
pub(crate) fn receive_signals() -> io::Result<SignalFd> {
    SignalFd::receive(SignalSet::catchable())
}
