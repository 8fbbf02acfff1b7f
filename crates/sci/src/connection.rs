//! One connection and the one operation it carries.

use crate::command::Command;
use crate::files::{Reading, Writing};
use crate::framed::Framed;
use crate::image::Image;
use crate::ports;
use crate::watch::Watch;
use flake_sys::reap::Change;
use flake_wire::{Exec, Failure, Frame, Liveness, Reply, Request, VERSION, understands};
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use std::io;
use std::os::fd::OwnedFd;

/// The agent's end of a connection.
pub(crate) type Link = flake_link::Link<Request, Reply>;

/// A connection. It is dropped once [`Self::is_over`].
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) link: Link,
    pub(crate) work: Work,
    greeted: bool,
}

/// What a connection carries.
#[derive(Debug)]
pub(crate) enum Work {
    /// Nothing yet.
    Idle,
    /// A command.
    Command(Command),
    /// A file for the peer.
    Reading(Reading),
    /// A file from the peer.
    Writing(Writing),
    /// A place at the shared terminal is asked for, which the agent has to give.
    Joining(Box<Exec>),
    /// The agent is to watch these.
    Watching(Vec<Liveness>),
    /// Nothing any more.
    Over,
}

impl Connection {
    /// Greets a new peer.
    pub(crate) fn open(socket: OwnedFd) -> io::Result<Self> {
        let mut link = Link::new(socket)?;
        // Whoever holds a copy of this end keeps the connection open after the agent is gone, as
        // podman's monitor does; a pidfd cannot be mistaken.
        let watch = pidfd_open(getpid(), PidfdFlags::empty()).ok();
        let agent = env!("CARGO_PKG_VERSION").to_owned();
        link.say_beside(&Reply::Hello { version: VERSION, agent, watch: watch.is_some() }, watch);
        Ok(Self { link, work: Work::Idle, greeted: false })
    }

    /// Whether nothing is left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.link.ended() || matches!(self.work, Work::Over) && !self.link.is_sending()
    }

    /// Whether nothing was asked for yet.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.work, Work::Idle) && !self.link.ended()
    }

    pub(crate) fn command(&self) -> Option<&Command> {
        match &self.work {
            Work::Command(command) => Some(command),
            _ => None,
        }
    }

    /// Reads what came and acts on it.
    pub(crate) fn receive(&mut self, image: &Image, watch: &mut Watch) {
        self.link.fill();
        // What follows a request for the terminal is for whoever takes the connection over.
        while !matches!(self.work, Work::Joining(_)) {
            match self.link.next_frame() {
                Ok(Some(frame)) => {
                    if !self.act(frame, image, watch) {
                        self.work = Work::Over;
                    }
                }
                Ok(None) => return,
                Err(_) => return self.link.give_up(),
            }
        }
    }

    /// Does what one frame asks; false when the peer does not keep to the protocol.
    fn act(&mut self, frame: Frame<Request>, image: &Image, watch: &mut Watch) -> bool {
        let request = match frame {
            Frame::Message(Request::Hello { version }) => {
                self.greeted = understands(version);
                return self.greeted;
            }
            _ if !self.greeted => return false,
            Frame::Data { stream, bytes } => return self.data(stream, &bytes),
            Frame::Message(request) => request,
        };
        // Whoever runs something is told what somebody should know.
        if matches!((&self.work, &request), (Work::Idle, Request::Exec(_) | Request::Join(_))) {
            for text in watch.take_notes() {
                self.link.say(&Reply::Note { text });
            }
        }
        match (&mut self.work, request) {
            (_, Request::Ping { token }) => self.link.say(&Reply::Pong { token }),
            (Work::Idle, Request::Exec(exec)) => match Command::start(*exec, image, &mut self.link) {
                Ok(command) => self.work = Work::Command(command),
                Err(failure) => self.fail(failure),
            },
            (Work::Idle, Request::ReadFile { path }) => match Reading::open(&path) {
                Ok(reading) => self.work = Work::Reading(reading),
                Err(failure) => self.fail(failure),
            },
            (Work::Idle, Request::WriteFile { path, mode }) => match Writing::create(&path, mode) {
                Ok(writing) => self.work = Work::Writing(writing),
                Err(failure) => self.fail(failure),
            },
            (Work::Idle, Request::Join(exec)) => self.work = Work::Joining(exec),
            (Work::Idle, Request::Watch(list)) => {
                self.link.say(&Reply::Done);
                self.work = Work::Watching(list);
            }
            (Work::Idle, Request::ListenPorts) => {
                self.link.say(&Reply::Ports(ports::listening()));
                self.work = Work::Over;
            }
            (Work::Command(command), Request::Signal { number, target }) => {
                command.signal(i32::from(number), target);
            }
            (Work::Command(command), Request::Continue) => command.go_on(),
            (Work::Command(command), Request::HangUp) => command.hang_up(),
            (Work::Command(command), Request::Resize(window)) => command.resize(window),
            (Work::Command(command), Request::Eof { stream }) => {
                return command
                    .framed
                    .iter_mut()
                    .find(|framed| framed.number() == stream)
                    .is_some_and(Framed::finish);
            }
            (Work::Command(command), Request::Credit { stream, bytes }) => {
                let found = command.framed.iter_mut().find(|framed| framed.number() == stream);
                let kept = found.is_some_and(|framed| framed.add_credit(bytes));
                command.drain(&mut self.link);
                return kept;
            }
            (Work::Reading(reading), Request::Credit { bytes, .. }) => reading.add_credit(bytes),
            (Work::Writing(_), Request::Eof { .. }) => {
                if let Work::Writing(writing) = std::mem::replace(&mut self.work, Work::Over) {
                    match writing.finish() {
                        Ok(()) => self.link.say(&Reply::Done),
                        Err(failure) => self.fail(failure),
                    }
                }
            }
            // What crosses the end of an operation on its way is no offence.
            (Work::Over, _) => {}
            _ => return false,
        }
        true
    }

    fn data(&mut self, stream: u16, bytes: &[u8]) -> bool {
        match &mut self.work {
            Work::Command(command) => command
                .framed
                .iter_mut()
                .find(|framed| framed.number() == stream)
                .is_some_and(|framed| framed.push(bytes, &mut self.link)),
            Work::Writing(writing) => {
                if let Err(failure) = writing.write(bytes, &mut self.link) {
                    self.fail(failure);
                }
                true
            }
            Work::Over => true,
            Work::Idle | Work::Reading(_) | Work::Joining(_) | Work::Watching(_) => false,
        }
    }

    /// Says why the operation is not done.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.link.say(&Reply::Failed(failure));
        self.work = Work::Over;
    }

    /// Takes what only the agent can do.
    pub(crate) fn take_request(&mut self) -> Option<Work> {
        let is_one = matches!(self.work, Work::Joining(_) | Work::Watching(_));
        is_one.then(|| std::mem::replace(&mut self.work, Work::Over))
    }

    /// A child of the agent's changed; perhaps it was this connection's command.
    pub(crate) fn child_changed(&mut self, pid: i32, change: Change) {
        if self.command().is_some_and(|command| command.pid() == pid) {
            self.changed(change);
        }
    }

    /// The command's leader has something to tell.
    pub(crate) fn follow_leader(&mut self) {
        let Work::Command(command) = &mut self.work else { return };
        if let Some(change) = command.follow_leader() {
            self.changed(change);
        }
    }

    fn changed(&mut self, change: Change) {
        let Work::Command(command) = &mut self.work else { return };
        if let Some(signal) = command.changed(change) {
            self.link.say(&Reply::Stopped { signal });
        }
        command.drain(&mut self.link);
    }

    /// Moves an operation on as far as it goes now, and sends.
    pub(crate) fn advance(&mut self) {
        match &mut self.work {
            Work::Command(command) => {
                if let Some(closing) = command.ended() {
                    self.link.say(&Reply::Exit(closing));
                    self.work = Work::Over;
                }
            }
            Work::Reading(reading) => {
                if let Some(result) = reading.pump(&mut self.link) {
                    match result {
                        Ok(()) => self.work = Work::Over,
                        Err(failure) => self.fail(failure),
                    }
                }
            }
            Work::Idle | Work::Writing(_) | Work::Joining(_) | Work::Watching(_) | Work::Over => {}
        }
        self.link.flush();
    }
}
