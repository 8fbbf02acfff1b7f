//! The caller's terminal in front of a pseudo-terminal of the agent's.

use super::Source;
use super::error::SessionError;
use super::line::Line;
use super::neighbours::Neighbours;
use super::screen::Screen;
use super::seat::Seat;
use flake_sys::signals::{SignalFd, is_deadly};
use flake_wire::Window;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// How much waits at most for the other side.
const BUFFER: usize = 64 << 10;
/// Nothing tells a process in the background that it was brought to the foreground without a stop.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The terminal and, once the command runs, the agent's end of its own.
#[derive(Debug)]
pub(super) struct Console {
    seat: Seat,
    line: Option<Line>,
    /// The command's own process group there.
    command: Option<Pid>,
    /// How the terminal was, while it is this process' turn on it.
    before: Option<Termios>,
    screen: Screen,
    typed: Vec<u8>,
    shown: Vec<u8>,
    hung_up: bool,
    is_shared: bool,
}

impl Console {
    /// At the controlling terminal, or at the standard streams.
    pub(super) fn open(is_forced: bool, has_whole_screen: bool) -> Result<Self, SessionError> {
        let seat = if is_forced { Ok(Seat::streams()) } else { Seat::terminal() };
        let seat = seat.map_err(|error| SessionError::Terminal(error.into()))?;
        let screen = Screen::new(has_whole_screen);
        Ok(Self {
            seat,
            line: None,
            command: None,
            before: None,
            screen,
            typed: Vec::new(),
            shown: Vec::new(),
            hung_up: false,
            is_shared: false,
        })
    }

    /// The window's size now.
    pub(super) fn window(&self) -> Window {
        self.seat.window()
    }

    /// The command runs on the other end of this one.
    pub(super) fn attach(&mut self, line: Line) {
        self.command = tcgetpgrp(line.master()).ok();
        self.is_shared = line.is_shared();
        self.line = Some(line);
        self.take();
    }

    /// Whether other launchers have the agent's terminal too.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The terminal is gone, and the agent's with it.
    pub(super) fn hang_up(&mut self) {
        self.hung_up = true;
        self.shown.clear();
        self.line = None;
    }

    /// Puts the terminal into raw mode, if it is this process' turn on it.
    pub(super) fn take(&mut self) {
        if let Some(tty) = self.seat.tty()
            && self.before.is_none()
            && self.seat.is_ours()
        {
            self.before = tcgetattr(tty).ok();
            self.set_modes();
        }
    }

    /// Raw for the keyboard; the screen as its own part decides.
    fn set_modes(&mut self) {
        let (Some(before), Some(tty)) = (&self.before, self.seat.tty()) else { return };
        let mut raw = before.clone();
        raw.make_raw();
        if self.screen.keeps_processing(self.line.as_ref().map(Line::master)) {
            raw.output_modes = before.output_modes;
        }
        let _ = tcsetattr(tty, OptionalActions::Now, &raw);
    }

    /// Gives the terminal back as it was.
    pub(super) fn restore(&mut self) {
        if let (Some(before), Some(tty)) = (self.before.take(), self.seat.tty()) {
            let _ = tcsetattr(tty, OptionalActions::Now, &before);
        }
    }

    /// The end: shows what is left and gives the terminal back. A signal that ends the wait for a screen
    /// that takes nothing is returned.
    pub(super) fn finish(&mut self, signals: &SignalFd) -> Option<i32> {
        let signal = self.flush_all(signals);
        self.restore();
        signal
    }

    /// Whether the terminal is in raw mode, or there is none that could be.
    fn is_taken(&self) -> bool {
        self.before.is_some() || self.seat.tty().is_none()
    }

    /// When to look whether the terminal is to be had now.
    pub(super) fn look_again(&self) -> Option<Duration> {
        (!self.is_taken() && self.line.is_some() && !self.hung_up).then_some(LOOK_AGAIN)
    }

    /// What to wait for.
    pub(super) fn interest(&self) -> Vec<(Source, BorrowedFd<'_>, PollFlags)> {
        let mut interest = Vec::new();
        let keyboard = self.seat.keyboard().filter(|_| self.is_taken() && self.typed.len() < BUFFER);
        let screen = self.seat.screen().filter(|_| !self.shown.is_empty());
        if !self.hung_up {
            interest.extend(keyboard.map(|keyboard| (Source::Keyboard, keyboard, PollFlags::IN)));
            interest.extend(screen.map(|screen| (Source::Screen, screen, PollFlags::OUT)));
        }
        if let Some(line) = &self.line {
            let typed = if self.typed.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            let shown = if self.shown.len() < BUFFER { PollFlags::IN } else { PollFlags::empty() };
            // A hangup is told whether it is asked for or not; with no room it would be told for ever.
            if !shown.is_empty() {
                interest.push((Source::Master, line.as_fd(), typed | shown));
            }
        }
        interest
    }

    /// Takes what was typed. True when the terminal is gone.
    pub(super) fn read_keyboard(&mut self, neighbours: &mut Neighbours) -> bool {
        let mut buffer = [0; 4096];
        match self.seat.read(&mut buffer) {
            Ok(length @ 1..) => {
                self.signal_neighbours(&buffer[..length], neighbours);
                self.typed.extend_from_slice(&buffer[..length]);
                self.flush();
                false
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => false,
            // Somebody else has the terminal now; it is not this process' to change back.
            _ if !self.seat.is_ours() && self.seat.tty().is_some_and(|tty| tcgetpgrp(tty).is_ok()) => {
                self.before = None;
                false
            }
            _ => {
                self.hang_up();
                true
            }
        }
    }

    /// A typed ^C reaches the command through its terminal, and the caller's pipeline from here.
    fn signal_neighbours(&self, typed: &[u8], neighbours: &mut Neighbours) {
        let line = self.line.as_ref().filter(|_| self.seat.tty().is_some());
        let Some(master) = line.map(Line::master) else { return };
        let Ok(termios) = tcgetattr(master) else { return };
        // A shell inside gives the terminal to its own jobs, which are nobody's neighbours here.
        let is_commands_turn = tcgetpgrp(master).ok() == self.command;
        if !termios.local_modes.contains(LocalModes::ISIG) || !is_commands_turn {
            return;
        }
        for (key, signal) in [(SpecialCodeIndex::VINTR, Signal::INT), (SpecialCodeIndex::VQUIT, Signal::QUIT)]
        {
            let code = termios.special_codes[key];
            if code != 0 && typed.contains(&code) {
                neighbours.signal(signal.as_raw());
            }
        }
    }

    /// Takes what the command shows; says whether there was something, or may be when there is room.
    pub(super) fn read_master(&mut self) -> bool {
        self.flush();
        let Some(line) = &self.line else { return false };
        let room = BUFFER.saturating_sub(self.shown.len());
        if room == 0 {
            return true;
        }
        let mut buffer = vec![0; room];
        match line.read(&mut buffer) {
            Ok(length @ 1..) => {
                if !self.hung_up {
                    let is_processed = !self.is_taken() || self.screen.is_kept();
                    if self.before.is_some() && self.screen.changed(line.master()) {
                        self.set_modes();
                    }
                    self.screen.show(&buffer[..length], is_processed, &mut self.shown);
                }
                self.flush();
                true
            }
            Err(rustix::io::Errno::INTR) => true,
            Err(rustix::io::Errno::AGAIN) => false,
            // Nobody has the other end open any more.
            Ok(_) | Err(_) => {
                self.line = None;
                false
            }
        }
    }

    /// Moves what the two sides take now, and looks whether the terminal is to be had.
    pub(super) fn flush(&mut self) {
        if self.look_again().is_some() {
            self.take();
        }
        if let Some(line) = &self.line {
            write_some(|bytes| line.write(bytes), &mut self.typed);
        }
        if !self.hung_up {
            write_some(|bytes| self.seat.write(bytes), &mut self.shown);
        }
    }

    /// Shows everything the command has written so far, unless a deadly signal comes, which is returned.
    pub(super) fn flush_all(&mut self, signals: &SignalFd) -> Option<i32> {
        loop {
            let is_more = self.read_master();
            if !is_more {
                self.screen.finish(&mut self.shown);
                self.flush();
            }
            if self.hung_up || self.shown.is_empty() && !is_more {
                return None;
            }
            if !self.shown.is_empty()
                && let Wait::Over(signal) = self.wait_for_screen(signals)
            {
                return signal;
            }
        }
    }

    fn wait_for_screen(&mut self, signals: &SignalFd) -> Wait {
        let Some(screen) = self.seat.screen() else { return Wait::Over(None) };
        let mut polled =
            [PollFd::from_borrowed_fd(screen, PollFlags::OUT), PollFd::new(signals, PollFlags::IN)];
        if poll(&mut polled, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
            return Wait::Over(None);
        }
        let [screen, signal] = polled.map(|polled| polled.revents());
        if screen.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Wait::Over(None);
        }
        let received = if signal.is_empty() { None } else { signals.next_signal().ok().flatten() };
        match received.filter(|received| is_deadly(received.number)) {
            Some(received) => Wait::Over(Some(received.number)),
            None => Wait::Again,
        }
    }
}

/// What a wait for the screen came to.
enum Wait {
    Again,
    Over(Option<i32>),
}

/// Writes what is taken now.
fn write_some(write: impl Fn(&[u8]) -> Result<usize, rustix::io::Errno>, bytes: &mut Vec<u8>) {
    while !bytes.is_empty() {
        match write(bytes) {
            Ok(length @ 1..) => {
                bytes.drain(..length);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return,
            Ok(_) | Err(_) => {
                bytes.clear();
                return;
            }
        }
    }
}
