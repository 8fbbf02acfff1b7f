//! A connection's bytes: frames in with the descriptors that came beside them, frames out.

use flake_sys::fdpass;
use flake_wire::{Decoder, FDS_MAX, Frame, Reply, Request, encode, encode_data};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// One end of a connection, non-blocking.
#[derive(Debug)]
pub(crate) struct Link {
    socket: OwnedFd,
    decoder: Decoder<Request>,
    passed: VecDeque<OwnedFd>,
    outgoing: VecDeque<Outgoing>,
    ended: bool,
}

#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    beside: Option<OwnedFd>,
}

impl Link {
    pub(crate) fn new(socket: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Self {
            socket,
            decoder: Decoder::default(),
            passed: VecDeque::new(),
            outgoing: VecDeque::new(),
            ended: false,
        })
    }

    /// Whether the peer has closed, or broken, the connection.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Whether frames wait for the socket.
    pub(crate) fn is_sending(&self) -> bool {
        !self.outgoing.is_empty() && !self.ended
    }

    /// Takes what the peer sent, once; [`Self::next_frame`] has the frames.
    pub(crate) fn fill(&mut self) {
        let mut buffer = [0; 16 << 10];
        let mut passed = Vec::new();
        match fdpass::receive(&self.socket, &mut buffer, &mut passed) {
            Ok(0) => self.ended = true,
            Ok(length) => self.decoder.push(&buffer[..length]),
            Err(error) if is_transient(&error) => {}
            Err(_) => self.ended = true,
        }
        self.passed.extend(passed);
        if self.passed.len() > FDS_MAX {
            self.ended = true;
        }
    }

    /// The next frame. A peer that does not keep to the protocol ends the connection.
    pub(crate) fn next_frame(&mut self) -> Option<Frame<Request>> {
        match self.decoder.next_frame() {
            Ok(frame) => frame,
            Err(_) => {
                self.ended = true;
                None
            }
        }
    }

    /// The next descriptor that came beside the frames so far.
    pub(crate) fn take_passed(&mut self) -> Option<OwnedFd> {
        self.passed.pop_front()
    }

    /// Queues a message.
    pub(crate) fn say(&mut self, reply: &Reply) {
        self.say_beside(reply, None);
    }

    /// Queues a message with a descriptor beside it.
    pub(crate) fn say_beside(&mut self, reply: &Reply, beside: Option<OwnedFd>) {
        let mut bytes = Vec::new();
        if encode(reply, &mut bytes).is_ok() {
            self.outgoing.push_back(Outgoing { bytes, sent: 0, beside });
        }
    }

    /// Queues data of a framed stream.
    pub(crate) fn send_data(&mut self, stream: u16, data: &[u8]) {
        let mut bytes = Vec::new();
        if encode_data(stream, data, &mut bytes).is_ok() {
            self.outgoing.push_back(Outgoing { bytes, sent: 0, beside: None });
        }
    }

    /// Sends what the socket takes now.
    pub(crate) fn flush(&mut self) {
        while let Some(next) = self.outgoing.front_mut() {
            let beside: Vec<BorrowedFd<'_>> = next.beside.iter().map(AsFd::as_fd).collect();
            match fdpass::send(&self.socket, &next.bytes[next.sent..], &beside) {
                Ok(length) => {
                    next.sent += length;
                    next.beside = None;
                    if next.sent == next.bytes.len() {
                        self.outgoing.pop_front();
                    }
                }
                Err(error) if is_transient(&error) => return,
                Err(_) => {
                    self.ended = true;
                    return;
                }
            }
        }
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
