//! One connection to the agent, waited on together with what a script writes. Whoever is inside may have taken the
//! agent's place: nothing is waited for without bounds but a script that was given none.

use flake_core::guest::GuestError;
use flake_link::Link;
use flake_sys::interrupt;
use flake_sys::reason::reason;
use flake_wire::{Frame, Reply, Request, VERSION, WireError, understands};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long a request to stop may go unnoticed: one that comes just before the wait does not interrupt it.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// The most bytes that are read at once of what a script writes.
const AT_ONCE: usize = 16 << 10;

/// A connection.
#[derive(Debug)]
pub(super) struct Talk {
    link: Link<Reply, Request>,
    /// Becomes readable when the agent is gone.
    agent: Option<OwnedFd>,
    greeted: bool,
    /// The end of a pipe that does not block, until its other end is closed.
    pub(super) output: Option<OwnedFd>,
    /// It was the pipe's turn last.
    was_output: bool,
    /// How long the agent may take to say something.
    answer_within: Duration,
    /// Until when it is to.
    answer_by: Option<Instant>,
}

/// What has happened.
#[derive(Debug)]
pub(super) enum Event {
    /// The agent said this.
    Frame(Frame<Reply>),
    /// The script wrote this.
    Output(Vec<u8>),
    /// Some time went by.
    Nothing,
}

/// The agent said something that is no answer to what it was asked.
pub(super) fn strayed() -> GuestError {
    GuestError::Unreachable("the agent does not keep to the protocol".to_owned())
}

fn unreachable<E: Into<io::Error>>(error: E) -> GuestError {
    GuestError::Unreachable(reason(&error.into()))
}

impl Talk {
    /// Greets over a new connection.
    pub(super) fn open(socket: io::Result<OwnedFd>, answer_within: Duration) -> Result<Self, GuestError> {
        let mut link = socket.and_then(Link::new).map_err(unreachable)?;
        link.say(&Request::Hello { version: VERSION });
        let answer_by = Some(Instant::now() + answer_within);
        Ok(Self {
            link,
            agent: None,
            greeted: false,
            output: None,
            was_output: false,
            answer_within,
            answer_by,
        })
    }

    /// Asks for something, with descriptors beside it; the answer has to come soon.
    pub(super) fn ask(
        &mut self,
        request: &Request,
        beside: impl IntoIterator<Item = OwnedFd>,
    ) -> Result<(), GuestError> {
        self.answer_by = Some(Instant::now() + self.answer_within);
        self.link.ask(request, beside).map_err(|error| match error {
            WireError::TooLong(length) => {
                GuestError::Refused(format!("{length} bytes with all variables are too long for a script"))
            }
            error => GuestError::Unreachable(error.to_string()),
        })
    }

    /// Sends data of a stream.
    pub(super) fn send(&mut self, stream: u16, bytes: &[u8]) {
        self.link.send_data(stream, bytes);
    }

    /// The agent's next word may take its time.
    pub(super) fn be_patient(&mut self) {
        self.answer_by = None;
    }

    /// The agent's next word.
    pub(super) fn answer(&mut self) -> Result<Frame<Reply>, GuestError> {
        loop {
            if let Event::Frame(frame) = self.next()? {
                return Ok(frame);
            }
        }
    }

    /// What happens next. Neither a script that writes without end nor a signal has to wait for the other.
    pub(super) fn next(&mut self) -> Result<Event, GuestError> {
        if let Some(signal) = interrupt::pending() {
            return Err(GuestError::Interrupted(signal));
        }
        if self.answer_by.is_some_and(|limit| Instant::now() > limit) {
            let seconds = self.answer_within.as_secs();
            let why = format!("the agent did not answer within {seconds} seconds");
            return Err(GuestError::Unreachable(why));
        }
        let output = if self.was_output { None } else { self.read_output() };
        self.was_output = output.is_some();
        if let Some(bytes) = output {
            return Ok(Event::Output(bytes));
        }
        self.link.flush();
        if let Some(frame) = self.frame()? {
            return Ok(Event::Frame(frame));
        }
        if self.link.ended() {
            return Err(GuestError::Gone);
        }
        self.wait()?;
        Ok(Event::Nothing)
    }

    /// Waits a while, and takes what came over the connection.
    fn wait(&mut self) -> Result<(), GuestError> {
        let out = if self.link.is_sending() { PollFlags::OUT } else { PollFlags::empty() };
        let mut polled = vec![PollFd::new(&self.link, PollFlags::IN | out)];
        let others = self.output.iter().chain(&self.agent);
        polled.extend(others.map(|descriptor| PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN)));
        match poll(&mut polled, Some(&LOOK_AGAIN)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(unreachable(error)),
        }
        let is_agent_gone =
            self.agent.is_some() && polled.last().is_some_and(|last| !last.revents().is_empty());
        self.link.fill();
        if is_agent_gone {
            // What it said last comes first.
            while self.link.fill() {}
            self.agent = None;
            self.link.give_up();
        }
        Ok(())
    }

    /// The next of the agent's words that has to do with what was asked.
    fn frame(&mut self) -> Result<Option<Frame<Reply>>, GuestError> {
        while let Some(frame) = self.link.next_frame().map_err(|_| strayed())? {
            match frame {
                Frame::Message(Reply::Hello { version, agent, watch }) if !self.greeted => {
                    if !understands(version) {
                        let why =
                            format!("its agent is of release {agent}, which this one does not understand");
                        return Err(GuestError::Unreachable(why));
                    }
                    self.greeted = true;
                    self.agent = if watch { self.link.take_passed() } else { None };
                }
                _ if !self.greeted => return Err(strayed()),
                // For people who call.
                Frame::Message(Reply::Note { .. }) => {}
                frame => return Ok(Some(frame)),
            }
        }
        Ok(None)
    }

    /// What is in the pipe now.
    pub(super) fn read_output(&mut self) -> Option<Vec<u8>> {
        let pipe = self.output.as_ref()?;
        let mut bytes = vec![0; AT_ONCE];
        match rustix::io::read(pipe, &mut bytes) {
            Err(Errno::AGAIN | Errno::INTR) => None,
            Ok(length) if length > 0 => {
                bytes.truncate(length);
                Some(bytes)
            }
            Ok(_) | Err(_) => {
                self.output = None;
                None
            }
        }
    }
}
