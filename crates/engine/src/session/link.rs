//! The caller's end of a connection to the agent.

use super::error::SessionError;
use flake_sys::fdpass;
use flake_wire::{Decoder, FDS_MAX, Frame, Reply, Request, encode};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A connection, non-blocking.
#[derive(Debug)]
pub(super) struct Link {
    socket: OwnedFd,
    decoder: Decoder<Reply>,
    passed: VecDeque<OwnedFd>,
    outgoing: VecDeque<Outgoing>,
    ended: bool,
}

/// A frame, and the descriptor that came beside it.
pub(super) type Said = (Frame<Reply>, Option<OwnedFd>);

#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    beside: Vec<OwnedFd>,
}

impl Link {
    pub(super) fn new(socket: OwnedFd) -> Result<Self, SessionError> {
        rustix::io::ioctl_fionbio(&socket, true).map_err(|error| SessionError::Connection(error.into()))?;
        Ok(Self {
            socket,
            decoder: Decoder::default(),
            passed: VecDeque::new(),
            outgoing: VecDeque::new(),
            ended: false,
        })
    }

    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    pub(super) fn is_sending(&self) -> bool {
        !self.outgoing.is_empty() && !self.ended
    }

    pub(super) fn say(&mut self, request: &Request) -> Result<(), SessionError> {
        self.say_beside(request, Vec::new())
    }

    pub(super) fn say_beside(&mut self, request: &Request, beside: Vec<OwnedFd>) -> Result<(), SessionError> {
        let mut bytes = Vec::new();
        encode(request, &mut bytes)?;
        self.outgoing.push_back(Outgoing { bytes, sent: 0, beside });
        Ok(())
    }

    /// Sends what the socket takes now. The descriptors are let go as soon as they are on their way.
    pub(super) fn flush(&mut self) -> Result<(), SessionError> {
        while let Some(next) = self.outgoing.front_mut().filter(|_| !self.ended) {
            let beside: Vec<BorrowedFd<'_>> = next.beside.iter().map(AsFd::as_fd).collect();
            match fdpass::send(&self.socket, &next.bytes[next.sent..], &beside) {
                Ok(length) => {
                    next.sent += length;
                    next.beside.clear();
                    if next.sent == next.bytes.len() {
                        self.outgoing.pop_front();
                    }
                }
                Err(error) if is_transient(&error) => return Ok(()),
                // The agent is gone; what it said last is still to be read.
                Err(error) if is_closed(&error) => self.outgoing.clear(),
                Err(error) => return Err(SessionError::Connection(error)),
            }
        }
        Ok(())
    }

    /// Takes what the agent sent; says whether there was anything.
    pub(super) fn fill(&mut self) -> Result<bool, SessionError> {
        let mut buffer = [0; 16 << 10];
        let mut passed = Vec::new();
        let received = fdpass::receive(&self.socket, &mut buffer, &mut passed);
        self.passed.extend(passed);
        if self.passed.len() > FDS_MAX {
            return Err(SessionError::Connection(io::Error::other("too many file descriptors came")));
        }
        match received {
            Ok(0) => self.ended = true,
            Ok(length) => {
                self.decoder.push(&buffer[..length]);
                return Ok(true);
            }
            Err(error) if is_transient(&error) => {}
            Err(error) if is_closed(&error) => self.ended = true,
            Err(error) => return Err(SessionError::Connection(error)),
        }
        Ok(false)
    }

    /// The next frame, with the descriptor that came beside it.
    pub(super) fn next_frame(&mut self) -> Result<Option<Said>, SessionError> {
        let Some(frame) = self.decoder.next_frame()? else { return Ok(None) };
        let has_descriptor =
            matches!(frame, Frame::Message(Reply::Hello { watch: true, .. } | Reply::Started { .. }));
        let beside = if has_descriptor { self.passed.pop_front() } else { None };
        Ok(Some((frame, beside)))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
