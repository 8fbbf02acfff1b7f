//! One message with descriptors over a blocking socket.

use flake_sys::fdpass;
use flake_wire::{Decoder, FDS_MAX, Frame, Message, encode};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Sends a message with descriptors beside it.
pub(super) fn send<M: Message>(socket: &UnixStream, message: &M, beside: &[OwnedFd]) -> io::Result<()> {
    let mut bytes = Vec::new();
    encode(message, &mut bytes).map_err(io::Error::other)?;
    let mut beside: Vec<_> = beside.iter().map(AsFd::as_fd).collect();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let sent = fdpass::send(socket, rest, &beside)?;
        beside.clear();
        rest = &rest[sent..];
    }
    Ok(())
}

/// Messages from a socket, one after the other.
pub(super) struct Receiver<M> {
    decoder: Decoder<M>,
    beside: Vec<OwnedFd>,
}

impl<M: Message> Receiver<M> {
    pub(super) fn new() -> Self {
        Self { decoder: Decoder::default(), beside: Vec::new() }
    }

    /// The next message of those that have come already, and the descriptors that have come by then.
    pub(super) fn received(&mut self) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
        match self.decoder.next_frame().map_err(io::Error::other)? {
            Some(Frame::Message(message)) => Ok(Some((message, std::mem::take(&mut self.beside)))),
            Some(Frame::Data { .. }) => Err(io::Error::other("data instead of a message")),
            None => Ok(None),
        }
    }

    /// The next message, and the descriptors that have come by then.
    pub(super) fn receive(&mut self, socket: &UnixStream) -> io::Result<(M, Vec<OwnedFd>)> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            if let Some(received) = self.received()? {
                return Ok(received);
            }
            match fdpass::receive(socket, &mut buffer, &mut self.beside) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.decoder.push(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            // The working directory's is one more.
            if self.beside.len() > FDS_MAX + 1 {
                return Err(io::Error::other("too many file descriptors"));
            }
        }
    }
}
