//! One launcher at the shared terminal.

use crate::connection::Link;
use crate::history::History;
use flake_wire::{Closing, Frame, Reply, Request, SignalTarget, Window};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::os::fd::OwnedFd;

/// Frames of members are short; who sends others, or reads no answers, is not followed further than this, in bytes.
const HELD: usize = 64 << 10;

/// A member of the terminal.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) link: Link,
    /// What is typed and shown; absent once the launcher has closed it.
    data: Option<OwnedFd>,
    /// How much of the output it was sent.
    place: u64,
    pub(crate) window: Window,
    /// It was told that the command was stopped, and is stopped itself.
    pub(crate) is_stopped: bool,
    /// Something of the output passed it by.
    pub(crate) has_gap: bool,
    /// It has left, or was told how the command ended.
    is_done: bool,
}

/// What a member asks of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Signal(i32, SignalTarget),
    GoOn,
    Window,
    Leave,
}

impl Member {
    pub(crate) fn new(link: Link, data: OwnedFd, place: u64, window: Window) -> Self {
        let data = Some(data);
        Self { link, data, place, window, is_stopped: false, has_gap: false, is_done: false }
    }

    /// Whether it has to get all that is shown.
    pub(crate) fn is_active(&self) -> bool {
        self.data.is_some() && !self.is_stopped && !self.is_done && !self.link.ended()
    }

    /// Whether it counts as one that has the terminal.
    pub(crate) fn is_there(&self) -> bool {
        !self.is_done && !self.link.ended()
    }

    /// Whether nothing is left to do for it.
    pub(crate) fn is_over(&self) -> bool {
        self.link.ended() || self.is_done && !self.link.is_sending()
    }

    pub(crate) fn data(&self) -> Option<&OwnedFd> {
        self.data.as_ref()
    }

    /// How far it is behind.
    pub(crate) fn behind(&self, history: &History) -> usize {
        usize::try_from(history.end() - self.place).unwrap_or(usize::MAX)
    }

    /// The next that the launcher's frames ask for.
    pub(crate) fn next_wish(&mut self) -> Option<Wish> {
        if self.link.held() > HELD {
            self.link.give_up();
        }
        loop {
            let request = match self.link.next_frame() {
                Ok(Some(Frame::Message(request))) => request,
                Ok(None) => return None,
                Ok(Some(Frame::Data { .. })) | Err(_) => {
                    self.link.give_up();
                    return None;
                }
            };
            match request {
                Request::Ping { token } => self.link.say(&Reply::Pong { token }),
                _ if self.is_done => {}
                Request::Signal { number, target } => return Some(Wish::Signal(i32::from(number), target)),
                Request::Continue => return Some(Wish::GoOn),
                Request::HangUp => return Some(Wish::Leave),
                Request::Resize(window) => {
                    self.window = window;
                    return Some(Wish::Window);
                }
                _ => {
                    self.link.give_up();
                    return None;
                }
            }
        }
    }

    /// Appends what was typed, at most `room` bytes.
    pub(crate) fn read(&mut self, typed: &mut Vec<u8>, room: usize) {
        let Some(data) = &self.data else { return };
        let mut buffer = [0; 4096];
        let most = buffer.len().min(room);
        match recv(data, &mut buffer[..most], RecvFlags::DONTWAIT) {
            Ok((length @ 1.., _)) => typed.extend_from_slice(&buffer[..length]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.data = None,
        }
    }

    /// Sends of the output what is taken now.
    pub(crate) fn show(&mut self, history: &History) {
        if self.place < history.start() {
            self.place = history.start();
            self.has_gap = true;
        }
        while let Some(data) = &self.data {
            let piece = history.after(self.place);
            if piece.is_empty() {
                return;
            }
            match send(data, piece, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(length) => self.place += length as u64,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.data = None,
            }
        }
    }

    /// Tells it how the command ended, once it was sent all of the output.
    pub(crate) fn finish(&mut self, closing: Closing, history: &History) {
        if !self.is_done && (self.data.is_none() || self.behind(history) == 0) {
            self.leave(closing);
        }
    }

    /// Ends its part.
    pub(crate) fn leave(&mut self, closing: Closing) {
        self.data = None;
        self.is_done = true;
        self.link.say(&Reply::Exit(closing));
    }
}
