//! Where the caller sits: at a terminal, or at two streams that stand for one because the caller asks for it.

use flake_sys::inherited;
use flake_wire::Window;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};
use rustix::process::getpgrp;
use rustix::termios::{tcgetpgrp, tcgetwinsize};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Ends what is typed, by the settings of a new terminal.
const END_OF_FILE: u8 = 4;
/// Pipes take so much at once without waiting, when they take anything (pipe(7), `PIPE_BUF`).
const AT_ONCE: usize = 4096;
/// The size of a window that nobody sees.
pub(super) const UNSEEN: Window = Window { rows: 24, columns: 80, width: 0, height: 0 };

/// A seat.
#[derive(Debug)]
pub(super) enum Seat {
    /// The controlling terminal, opened anew, so that non-blocking mode is nobody else's.
    Terminal(OwnedFd),
    /// Standard input and output.
    Streams {
        keyboard: Option<BorrowedFd<'static>>,
        screen: Option<BorrowedFd<'static>>,
        /// The byte that was typed last.
        last: u8,
    },
}

impl Seat {
    pub(super) fn terminal() -> Result<Self, Errno> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        open("/dev/tty", flags, Mode::empty()).map(Self::Terminal)
    }

    pub(super) fn streams() -> Self {
        Self::Streams { keyboard: inherited::open(0), screen: inherited::open(1), last: b'\n' }
    }

    /// The terminal; streams are none.
    pub(super) fn tty(&self) -> Option<&OwnedFd> {
        match self {
            Self::Terminal(tty) => Some(tty),
            Self::Streams { .. } => None,
        }
    }

    /// What is typed on, unless it has ended.
    pub(super) fn keyboard(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Terminal(tty) => Some(tty.as_fd()),
            Self::Streams { keyboard, .. } => *keyboard,
        }
    }

    /// What is looked at.
    pub(super) fn screen(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Terminal(tty) => Some(tty.as_fd()),
            Self::Streams { screen, .. } => *screen,
        }
    }

    /// Whether this process may use it now.
    pub(super) fn is_ours(&self) -> bool {
        self.tty().is_none_or(|tty| tcgetpgrp(tty).is_ok_and(|group| group == getpgrp()))
    }

    pub(super) fn window(&self) -> Window {
        let size = self.screen().and_then(|screen| tcgetwinsize(screen).ok());
        size.map_or_else(|| self.tty().map_or(UNSEEN, |_| Window::default()), super::request::window)
    }

    /// What was typed. The end of a stream is a key, which ends the input at the begin of a line only.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let (keyboard, last) = match self {
            Self::Terminal(tty) => return read(tty, buffer),
            Self::Streams { keyboard, last, .. } => (keyboard, last),
        };
        let Some(stream) = keyboard else { return Err(Errno::AGAIN) };
        match read(*stream, &mut *buffer) {
            Ok(length @ 1..) => {
                *last = buffer[length - 1];
                Ok(length)
            }
            Err(error @ (Errno::AGAIN | Errno::INTR)) => Err(error),
            Ok(_) | Err(_) => {
                *keyboard = None;
                let keys = if *last == b'\n' { 1 } else { 2 };
                buffer[..keys].fill(END_OF_FILE);
                Ok(keys)
            }
        }
    }

    /// Shows what can be shown without waiting.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        match self {
            Self::Terminal(tty) => write(tty, bytes),
            Self::Streams { screen: None, .. } => Err(Errno::BADF),
            Self::Streams { screen: Some(screen), .. } => {
                let now = Timespec { tv_sec: 0, tv_nsec: 0 };
                let mut polled = [PollFd::from_borrowed_fd(*screen, PollFlags::OUT)];
                if poll(&mut polled, Some(&now))? == 0 {
                    return Err(Errno::AGAIN);
                }
                write(*screen, &bytes[..bytes.len().min(AT_ONCE)])
            }
        }
    }
}
