//! The agent's one loop: signals, new connections, and what moves on those there are.

use crate::connection::{Connection, Work};
use crate::image::Image;
use flake_sys::peer;
use flake_sys::reap;
use flake_sys::signals::{SignalFd, SignalSet, is_deadly};
use flake_wire::SignalTarget;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt::socket_acceptconn;
use rustix::net::{SocketFlags, accept_with};
use rustix::process::{Signal, geteuid};
use std::io;
use std::os::fd::OwnedFd;

/// Where podman puts the one descriptor it passes.
const HANDED_OVER: i32 = 3;
/// Connections at once; a peer over it is turned away.
const CONNECTIONS_MAX: usize = 1024;

/// The agent.
#[derive(Debug)]
pub(crate) struct Agent {
    image: Image,
    signals: SignalFd,
    /// Absent when there is one launcher only, with which the agent ends.
    listener: Option<OwnedFd>,
    connections: Vec<Connection>,
    /// The container is being stopped: no new connection, and the end with the last.
    ending: bool,
    /// No descriptor is left for another connection until one ends.
    is_full: bool,
}

/// What a polled descriptor belongs to.
#[derive(Debug, Clone, Copy)]
enum Source {
    Signals,
    Listener,
    Link(usize),
    Leader(usize),
    Stream(usize, u16),
}

impl Agent {
    /// Takes over the descriptor that the agent was started with.
    pub(crate) fn inherit(image: Image) -> io::Result<Self> {
        let handed = flake_sys::inherited::descriptor(HANDED_OVER)
            .ok_or_else(|| io::Error::other("started without a socket as descriptor 3"))?;
        let is_listener = socket_acceptconn(&handed)?;
        let signals = SignalFd::receive(SignalSet::catchable())?;
        let mut agent =
            Self { image, signals, listener: None, connections: Vec::new(), ending: false, is_full: false };
        if is_listener {
            rustix::io::ioctl_fionbio(&handed, true)?;
            agent.listener = Some(handed);
        } else {
            agent.connections.push(Connection::open(handed)?);
        }
        Ok(agent)
    }

    /// Runs until the one launcher is done or gone, or until the container is stopped.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        loop {
            for connection in &mut self.connections {
                connection.advance();
            }
            self.retire();
            if self.connections.is_empty() && (self.listener.is_none() || self.ending) {
                return Ok(());
            }
            for source in self.wait()? {
                self.serve(source)?;
            }
        }
    }

    /// Drops connections that are over. A command whose launcher is gone is killed.
    fn retire(&mut self) {
        let before = self.connections.len();
        self.connections.retain(|connection| {
            let over = connection.is_over();
            if let Some(command) = connection.command().filter(|_| over) {
                command.signal(Signal::KILL.as_raw(), SignalTarget::Group);
            }
            !over
        });
        self.is_full &= self.connections.len() == before;
    }

    /// Waits for something to do.
    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut sources = vec![Source::Signals];
        let mut polled = vec![PollFd::new(&self.signals, PollFlags::IN)];
        if let Some(listener) = self.listener.as_ref().filter(|_| !self.ending && !self.is_full) {
            sources.push(Source::Listener);
            polled.push(PollFd::new(listener, PollFlags::IN));
        }
        for (index, connection) in self.connections.iter().enumerate() {
            let sending = if connection.link.is_sending() { PollFlags::OUT } else { PollFlags::empty() };
            sources.push(Source::Link(index));
            polled.push(PollFd::new(&connection.link, PollFlags::IN | sending));
            let Work::Command(command) = &connection.work else { continue };
            if let Some(leader) = command.leader() {
                sources.push(Source::Leader(index));
                polled.push(PollFd::new(leader, PollFlags::IN));
            }
            for stream in &command.framed {
                if let Some((pipe, write)) = stream.interest() {
                    let flags = if write { PollFlags::OUT } else { PollFlags::IN };
                    sources.push(Source::Stream(index, stream.number()));
                    polled.push(PollFd::from_borrowed_fd(pipe, flags));
                }
            }
        }
        match poll(&mut polled, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let ready = sources.into_iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    fn serve(&mut self, source: Source) -> io::Result<()> {
        match source {
            Source::Signals => self.signals()?,
            Source::Listener => self.accept(),
            Source::Link(index) => self.connections[index].receive(&self.image),
            Source::Leader(index) => {
                let Connection { link, work, .. } = &mut self.connections[index];
                if let Work::Command(command) = work {
                    command.follow_leader(link);
                }
            }
            Source::Stream(index, number) => {
                let Connection { link, work, .. } = &mut self.connections[index];
                if let Work::Command(command) = work {
                    let stream = command.framed.iter_mut().find(|stream| stream.number() == number);
                    if let Some(stream) = stream {
                        stream.pump(link);
                    }
                }
            }
        }
        Ok(())
    }

    fn signals(&mut self) -> io::Result<()> {
        while let Some(signal) = self.signals.next_signal()? {
            if signal.number == Signal::CHILD.as_raw() {
                while let Some((pid, change)) = reap::next_change() {
                    for connection in &mut self.connections {
                        connection.child_changed(pid, change);
                    }
                }
            } else if signal.number != Signal::PIPE.as_raw() {
                // `podman stop`, with whatever signal the image wants for that: the commands hear of it
                // first.
                self.ending |= is_deadly(signal.number);
                for command in self.connections.iter().filter_map(Connection::command) {
                    command.signal(signal.number, SignalTarget::Process);
                }
            }
        }
        Ok(())
    }

    /// Takes a new connection from outside of the container; anybody inside is turned away.
    fn accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        let socket = match accept_with(listener, SocketFlags::CLOEXEC) {
            Ok(socket) => socket,
            Err(error) => {
                self.is_full = matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOMEM)
                    && !self.connections.is_empty();
                return;
            }
        };
        let from_outside = peer::of(&socket)
            .is_ok_and(|peer| peer.pid == 0 && (peer.uid == 0 || peer.uid == geteuid().as_raw()));
        if from_outside && self.connections.len() < CONNECTIONS_MAX {
            self.connections.extend(Connection::open(socket));
        }
    }
}
