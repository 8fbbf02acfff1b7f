//! A connection between launcher and agent, the same for both: frames of `flake-wire` with the file
//! descriptors beside them, over a Unix socket that neither side ever waits for.

use flake_sys::fdpass;
use flake_wire::{Decoder, FDS_MAX, Frame, Message, WireError, encode, encode_data};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// One end of a connection, which reads `In` and says `Out`.
#[derive(Debug)]
pub struct Link<In, Out> {
    socket: OwnedFd,
    decoder: Decoder<In>,
    passed: VecDeque<OwnedFd>,
    outgoing: VecDeque<Outgoing>,
    /// Bytes that wait in `outgoing`.
    queued: usize,
    ended: bool,
    says: std::marker::PhantomData<Out>,
}

#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    beside: Vec<OwnedFd>,
}

impl<In: Message, Out: Message> Link<In, Out> {
    /// Takes a connected socket.
    ///
    /// # Errors
    /// It cannot be made non-blocking.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Self {
            socket,
            decoder: Decoder::default(),
            passed: VecDeque::new(),
            outgoing: VecDeque::new(),
            queued: 0,
            ended: false,
            says: std::marker::PhantomData,
        })
    }

    /// Whether nothing more comes: the peer has closed the connection, or it broke.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Whether frames wait for the socket.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        !self.outgoing.is_empty() && !self.ended
    }

    /// How many bytes are held for the peer: unfinished frames of its own, and what it has not read.
    #[must_use]
    pub fn held(&self) -> usize {
        self.decoder.held() + self.queued
    }

    /// Ends the connection with a peer that does not keep to the protocol.
    pub fn give_up(&mut self) {
        self.ended = true;
    }

    /// Queues a message. One that is too long ends the connection.
    pub fn say(&mut self, message: &Out) {
        self.say_beside(message, Vec::new());
    }

    /// Queues a message with descriptors beside it, which are let go as soon as they are on their way. One
    /// that is too long ends the connection.
    pub fn say_beside(&mut self, message: &Out, beside: impl IntoIterator<Item = OwnedFd>) {
        if self.ask(message, beside).is_err() {
            self.give_up();
        }
    }

    /// Queues a message that may be too long, with descriptors beside it.
    ///
    /// # Errors
    /// It is; nothing is queued.
    pub fn ask(&mut self, message: &Out, beside: impl IntoIterator<Item = OwnedFd>) -> Result<(), WireError> {
        let mut bytes = Vec::new();
        encode(message, &mut bytes)?;
        self.queue(bytes, beside.into_iter().collect());
        Ok(())
    }

    /// Queues data of a framed stream. More than a frame takes ends the connection.
    pub fn send_data(&mut self, stream: u16, data: &[u8]) {
        let mut bytes = Vec::new();
        if encode_data(stream, data, &mut bytes).is_err() {
            return self.give_up();
        }
        self.queue(bytes, Vec::new());
    }

    fn queue(&mut self, bytes: Vec<u8>, beside: Vec<OwnedFd>) {
        self.queued += bytes.len();
        self.outgoing.push_back(Outgoing { bytes, sent: 0, beside });
    }

    /// Sends what the socket takes now. A peer that is gone takes no more; what it said last can still be read.
    pub fn flush(&mut self) {
        while let Some(next) = self.outgoing.front_mut().filter(|_| !self.ended) {
            let beside: Vec<BorrowedFd<'_>> = next.beside.iter().map(AsFd::as_fd).collect();
            match fdpass::send(&self.socket, &next.bytes[next.sent..], &beside) {
                Ok(length) => {
                    next.sent += length;
                    self.queued -= length;
                    next.beside.clear();
                    if next.sent == next.bytes.len() {
                        self.outgoing.pop_front();
                    }
                }
                Err(error) if is_transient(&error) => return,
                Err(_) => {
                    self.outgoing.clear();
                    self.queued = 0;
                }
            }
        }
    }

    /// Takes what the peer sent, once; says whether there was anything.
    pub fn fill(&mut self) -> bool {
        let mut buffer = [0; 16 << 10];
        let mut passed = Vec::new();
        let received = fdpass::receive(&self.socket, &mut buffer, &mut passed);
        self.passed.extend(passed);
        match received {
            _ if self.passed.len() > FDS_MAX => self.ended = true,
            Ok(0) => self.ended = true,
            Ok(length) => {
                self.decoder.push(&buffer[..length]);
                return true;
            }
            Err(error) if is_transient(&error) => {}
            Err(_) => self.ended = true,
        }
        false
    }

    /// Waits until there is something to take or room to send, or until the time is over, or a signal comes.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn wait(&self, within: Duration) -> io::Result<()> {
        let out = if self.is_sending() { PollFlags::OUT } else { PollFlags::empty() };
        let limit = Timespec::try_from(within).ok();
        match poll(&mut [PollFd::new(&self.socket, PollFlags::IN | out)], limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The next frame.
    ///
    /// # Errors
    /// The peer does not keep to the protocol.
    pub fn next_frame(&mut self) -> Result<Option<Frame<In>>, WireError> {
        self.decoder.next_frame()
    }

    /// The next descriptor that came beside the frames so far.
    pub fn take_passed(&mut self) -> Option<OwnedFd> {
        self.passed.pop_front()
    }
}

impl<In, Out> AsFd for Link<In, Out> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flake_wire::{Reply, Request};
    use std::os::unix::net::UnixStream;

    fn pair() -> (Link<Reply, Request>, Link<Request, Reply>) {
        let (one, other) = UnixStream::pair().unwrap();
        (Link::new(one.into()).unwrap(), Link::new(other.into()).unwrap())
    }

    #[test]
    fn frames_and_descriptors_arrive_together() {
        let (mut launcher, mut agent) = pair();
        let (_, writer) = io::pipe().unwrap();
        launcher.say_beside(&Request::Ping { token: 1 }, [writer.into()]);
        launcher.send_data(3, b"data");
        launcher.flush();
        while agent.fill() {}
        assert_eq!(agent.next_frame().unwrap(), Some(Frame::Message(Request::Ping { token: 1 })));
        assert!(agent.take_passed().is_some() && agent.take_passed().is_none());
        assert_eq!(agent.next_frame().unwrap(), Some(Frame::Data { stream: 3, bytes: b"data".to_vec() }));
    }

    #[test]
    fn a_full_socket_is_waited_for() {
        let (mut launcher, mut agent) = pair();
        let path = vec![b'x'; 1 << 20];
        launcher.say(&Request::ReadFile { path: path.clone() });
        launcher.flush();
        assert!(launcher.is_sending());
        let mut frame = None;
        while frame.is_none() {
            while agent.fill() {}
            launcher.flush();
            frame = agent.next_frame().unwrap();
        }
        assert_eq!(frame, Some(Frame::Message(Request::ReadFile { path })));
    }

    #[test]
    fn the_last_words_of_a_peer_that_is_gone_are_read() {
        let (mut launcher, mut agent) = pair();
        agent.say(&Reply::Done);
        agent.flush();
        drop(agent);
        launcher.say(&Request::Continue);
        launcher.flush();
        assert!(launcher.fill() && !launcher.ended());
        assert_eq!(launcher.next_frame().unwrap(), Some(Frame::Message(Reply::Done)));
        assert!(!launcher.fill() && launcher.ended());
    }
}
