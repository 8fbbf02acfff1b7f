//! Streams of a command that travel in data frames: both ends of each pipe, and the credit.

use crate::connection::Link;
use flake_wire::{DATA_MAX, Reply, StreamDirection, WINDOW};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The agent's end of one framed stream.
#[derive(Debug)]
pub(crate) struct Framed {
    number: u16,
    direction: StreamDirection,
    /// Absent once the stream has ended.
    pipe: Option<OwnedFd>,
    /// Towards the command: bytes that wait for the pipe.
    waiting: Vec<u8>,
    /// Towards the command: the peer has ended the stream.
    complete: bool,
    /// From the command: how many bytes the peer still takes.
    credit: usize,
}

/// Whether the peer kept to the protocol.
pub(crate) type Kept = bool;

impl Framed {
    /// Makes the stream and returns the command's end with it.
    pub(crate) fn new(number: u16, direction: StreamDirection) -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        let (ours, theirs) = match direction {
            StreamDirection::ToCommand => (writer, reader),
            StreamDirection::FromCommand => (reader, writer),
        };
        // Only this end: the flag belongs to an end, and the command expects a plain one.
        rustix::io::ioctl_fionbio(&ours, true)?;
        let credit = WINDOW as usize;
        let framed =
            Self { number, direction, pipe: Some(ours), waiting: Vec::new(), complete: false, credit };
        Ok((framed, theirs))
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    /// What to poll for: the pipe, and whether for writing.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, bool)> {
        let pipe = self.pipe.as_ref()?.as_fd();
        match self.direction {
            // Without bytes too, to learn that nobody reads any more.
            StreamDirection::ToCommand => Some((pipe, true)).filter(|_| !self.waiting.is_empty()),
            StreamDirection::FromCommand => Some((pipe, false)).filter(|_| self.credit > 0),
        }
    }

    /// Whether output may still come.
    pub(crate) fn is_open_output(&self) -> bool {
        self.direction == StreamDirection::FromCommand && self.pipe.is_some()
    }

    /// Takes data for the command.
    pub(crate) fn push(&mut self, bytes: &[u8], link: &mut Link) -> Kept {
        if self.direction != StreamDirection::ToCommand || self.complete {
            return false;
        }
        if self.waiting.len() + bytes.len() > WINDOW as usize {
            return false;
        }
        if self.pipe.is_some() {
            self.waiting.extend_from_slice(bytes);
        } else {
            // Nobody reads it; the sender is not to wait.
            grant(self.number, bytes.len(), link);
        }
        true
    }

    /// The peer has ended the stream.
    pub(crate) fn finish(&mut self) -> Kept {
        self.complete = true;
        if self.waiting.is_empty() {
            self.pipe = None;
        }
        self.direction == StreamDirection::ToCommand
    }

    /// The peer takes more.
    pub(crate) fn add_credit(&mut self, bytes: u32) -> Kept {
        self.credit += bytes as usize;
        self.direction == StreamDirection::FromCommand && self.credit <= WINDOW as usize
    }

    /// Moves what the pipe takes or has now.
    pub(crate) fn pump(&mut self, link: &mut Link) {
        match self.direction {
            StreamDirection::ToCommand => self.write(link),
            StreamDirection::FromCommand => {
                self.read(link);
            }
        }
    }

    /// Takes what is in the pipe, up to the credit, and ends the stream: the command has ended.
    pub(crate) fn drain(&mut self, link: &mut Link) {
        if self.direction == StreamDirection::FromCommand {
            while self.credit > 0 && self.read(link) {}
            if self.pipe.is_some() && self.credit > 0 {
                self.end(link);
            }
        }
    }

    fn write(&mut self, link: &mut Link) {
        let Some(pipe) = &self.pipe else { return };
        match rustix::io::write(pipe, &self.waiting) {
            Ok(length) => {
                self.waiting.drain(..length);
                grant(self.number, length, link);
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
            Err(_) => {
                grant(self.number, self.waiting.len(), link);
                self.waiting.clear();
                self.pipe = None;
            }
        }
        if self.complete && self.waiting.is_empty() {
            self.pipe = None;
        }
    }

    /// Whether bytes were moved.
    fn read(&mut self, link: &mut Link) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        let mut buffer = vec![0; DATA_MAX.min(self.credit)];
        match rustix::io::read(pipe, &mut buffer) {
            Ok(0) => self.end(link),
            Ok(length) => {
                self.credit -= length;
                link.send_data(self.number, &buffer[..length]);
                return true;
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(_) => self.end(link),
        }
        false
    }

    fn end(&mut self, link: &mut Link) {
        self.pipe = None;
        link.say(&Reply::Eof { stream: self.number });
    }
}

fn grant(stream: u16, bytes: usize, link: &mut Link) {
    let bytes = u32::try_from(bytes).unwrap_or(WINDOW);
    if bytes > 0 {
        link.say(&Reply::Credit { stream, bytes });
    }
}
