//! The agent's one loop: signals, new connections, and what moves on those there are.

use crate::connection::{Connection, Work};
use crate::ending::{self, Ending, Next};
use crate::guests::Guests;
use crate::image::Image;
use crate::seat::Seat;
use crate::shared::{Part, Shared};
use crate::watch::{Verdict, Watch};
use flake_sys::reap::{self, Change};
use flake_sys::signals::{SignalFd, SignalSet, is_deadly};
use flake_wire::{Exec, SignalTarget};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_acceptconn;
use rustix::process::Signal;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Where podman puts the one descriptor it passes.
const HANDED_OVER: i32 = 3;

/// The agent.
#[derive(Debug)]
pub(crate) struct Agent {
    image: Image,
    signals: SignalFd,
    /// Absent when there is one launcher only, with which the agent ends, and at the end.
    listener: Option<OwnedFd>,
    /// Whether there was a listener.
    is_kept: bool,
    guests: Guests,
    terminals: Vec<Shared>,
    watch: Watch,
    ending: Option<Ending>,
}

/// What a polled descriptor belongs to.
#[derive(Debug, Clone, Copy)]
enum Source {
    Signals,
    Listener,
    Link(usize),
    Leader(usize),
    Stream(usize, u16),
    Terminal(usize, Part),
    Probe(usize),
}

impl Agent {
    /// Takes over the descriptor that the agent was started with.
    pub(crate) fn inherit(image: Image) -> io::Result<Self> {
        let handed = flake_sys::inherited::descriptor(HANDED_OVER)
            .ok_or_else(|| io::Error::other("started without a socket as descriptor 3"))?;
        let is_kept = socket_acceptconn(&handed)?;
        let signals = SignalFd::receive(SignalSet::catchable())?;
        let mut agent = Self {
            image,
            signals,
            listener: None,
            is_kept,
            guests: Guests::default(),
            terminals: Vec::new(),
            watch: Watch::default(),
            ending: None,
        };
        if is_kept {
            rustix::io::ioctl_fionbio(&handed, true)?;
            agent.listener = Some(handed);
        } else {
            agent.guests.connections.push(Connection::open(handed)?);
        }
        Ok(agent)
    }

    /// Runs until the one launcher is done or gone, or the container is stopped, or what is watched is found wrong.
    pub(crate) fn run(&mut self) -> io::Result<Option<Verdict>> {
        loop {
            let now = Instant::now();
            self.advance(now);
            let is_alone = self.guests.connections.is_empty() && self.terminals.is_empty();
            let next = self.ending.as_mut().map(|ending| ending.next(now));
            if next == Some(Next::Kill) {
                self.signal_all(Signal::KILL.as_raw(), SignalTarget::Group);
            }
            if next == Some(Next::Leave) || is_alone && (next.is_some() || !self.is_kept) {
                return Ok(self.ending.take().and_then(Ending::verdict));
            }
            for source in self.wait(now)? {
                self.serve(source)?;
            }
        }
    }

    /// Moves everything on as far as it goes now.
    fn advance(&mut self, now: Instant) {
        if self.ending.is_none() {
            let verdict = self.watch.advance(now);
            self.judge(verdict, now);
        }
        for (work, connection) in self.guests.requests() {
            match work {
                Work::Joining(exec) => self.join(*exec, connection),
                Work::Watching(list) => {
                    self.watch.replace(list, now);
                    self.guests.connections.push(connection);
                }
                _ => {}
            }
        }
        self.guests.advance(self.ending.is_some());
        for terminal in &mut self.terminals {
            terminal.advance(now);
        }
        self.terminals.retain(|terminal| {
            if terminal.is_over() {
                terminal.command().signal(Signal::KILL.as_raw(), SignalTarget::Group);
            }
            !terminal.is_over()
        });
    }

    /// Gives a launcher its place at the shared terminal, which is made for the first.
    fn join(&mut self, exec: Exec, mut connection: Connection) {
        let joined = Seat::new(&exec).and_then(|seat| {
            let open = self.terminals.iter().position(Shared::is_open);
            if open.is_none() {
                self.terminals.push(Shared::start(exec, &self.image, &mut connection.link)?);
            }
            let index = open.unwrap_or(self.terminals.len() - 1);
            Ok((seat, self.terminals[index].master()?, index))
        });
        match joined {
            Ok((seat, master, index)) => self.terminals[index].join(seat, master, connection.link),
            Err(failure) => {
                connection.fail(failure);
                self.guests.connections.push(connection);
            }
        }
    }

    /// Ends the commands, and with them the agent, when what is watched is found wrong.
    fn judge(&mut self, verdict: Option<Verdict>, now: Instant) {
        let Some(verdict) = verdict.filter(|_| self.ending.is_none()) else { return };
        self.end(Ending::by(verdict, now));
        self.signal_all(Signal::TERM.as_raw(), SignalTarget::Group);
    }

    fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
        self.watch = Watch::default();
        if let Some(listener) = self.listener.take() {
            ending::close(listener);
        }
    }

    fn signal_all(&self, number: i32, target: SignalTarget) {
        let shared = self.terminals.iter().map(Shared::command);
        for command in self.guests.connections.iter().filter_map(Connection::command).chain(shared) {
            command.signal(number, target);
        }
    }

    /// Waits for something to do.
    fn wait(&self, now: Instant) -> io::Result<Vec<Source>> {
        let mut sources = vec![Source::Signals];
        let mut polled = vec![PollFd::new(&self.signals, PollFlags::IN)];
        if let Some(listener) = self.listener.as_ref().filter(|_| !self.guests.is_full) {
            sources.push(Source::Listener);
            polled.push(PollFd::new(listener, PollFlags::IN));
        }
        for (index, connection) in self.guests.connections.iter().enumerate() {
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
        for (index, terminal) in self.terminals.iter().enumerate() {
            for (part, descriptor, flags) in terminal.interest() {
                sources.push(Source::Terminal(index, part));
                polled.push(PollFd::from_borrowed_fd(descriptor, flags));
            }
        }
        for (index, output) in self.watch.outputs() {
            sources.push(Source::Probe(index));
            polled.push(PollFd::new(output, PollFlags::IN));
        }
        let limit = self.due().map(|due| due.saturating_duration_since(now));
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        match poll(&mut polled, limit.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let ready = sources.into_iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    /// When something has to be done that nothing tells of; nothing wakes the agent otherwise.
    fn due(&self) -> Option<Instant> {
        let terminals = self.terminals.iter().filter_map(Shared::due);
        let ending = self.ending.as_ref().and_then(Ending::due);
        terminals.chain(self.watch.due()).chain(ending).min()
    }

    fn serve(&mut self, source: Source) -> io::Result<()> {
        match source {
            Source::Signals => self.signals()?,
            Source::Listener => {
                if let Some(listener) = &self.listener {
                    self.guests.accept(listener);
                }
            }
            Source::Link(index) => self.guests.receive(index, &self.image, &mut self.watch),
            Source::Leader(index) => self.guests.connections[index].follow_leader(),
            Source::Stream(index, number) => {
                let Connection { link, work, .. } = &mut self.guests.connections[index];
                if let Work::Command(command) = work {
                    let stream = command.framed.iter_mut().find(|stream| stream.number() == number);
                    if let Some(stream) = stream {
                        stream.pump(link);
                    }
                }
            }
            Source::Terminal(index, part) => {
                if let Some(terminal) = self.terminals.get_mut(index) {
                    terminal.serve(part);
                }
            }
            Source::Probe(index) => self.watch.read(index),
        }
        Ok(())
    }

    fn signals(&mut self) -> io::Result<()> {
        while let Some(signal) = self.signals.next_signal()? {
            if signal.number == Signal::CHILD.as_raw() {
                while let Some((pid, change)) = reap::next_change() {
                    self.child_changed(pid, change);
                }
            } else if signal.number != Signal::PIPE.as_raw() {
                // `podman stop`, with whatever signal the image wants for that: the commands hear of it
                // first.
                self.signal_all(signal.number, SignalTarget::Process);
                if is_deadly(signal.number) && self.ending.is_none() {
                    self.end(Ending::from_outside());
                }
            }
        }
        Ok(())
    }

    fn child_changed(&mut self, pid: i32, change: Change) {
        for connection in &mut self.guests.connections {
            connection.child_changed(pid, change);
        }
        for terminal in &mut self.terminals {
            terminal.child_changed(pid, change);
        }
        let now = Instant::now();
        let verdict = self.watch.child_changed(pid, change, now);
        self.judge(verdict, now);
    }
}
