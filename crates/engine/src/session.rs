//! The caller's side of a running command, the same for every engine: streams, terminal, job control,
//! signals, and how it ends.

mod console;
mod error;
mod etiquette;
mod line;
mod neighbours;
mod relay;
mod request;
mod screen;
mod seat;
mod streams;

pub use error::SessionError;
pub use request::{Surroundings, account, exec, ids};
pub use streams::{Files, Relays, StreamError, Streams};

use crate::start::{Outcome, Started, Starter};
use console::Console;
use etiquette::{is_a_death, is_a_stop};
use flake_link::Link;
use flake_sys::inherited;
use flake_sys::signals::{Received, SignalFd, SignalSet};
use flake_wire::{Closing, Failure, Frame, Reply, Request, VERSION};
use line::Line;
use neighbours::Neighbours;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long the agent may take to answer once its environment is up.
const HELLO_WITHIN: Duration = Duration::from_secs(30);
/// The same for one that was up before.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How a session ended.
#[derive(Debug)]
pub enum End {
    /// The command exited with this status.
    Exited(u8),
    /// A signal killed the command.
    Killed(i32),
    /// The command was not run.
    Failed(Failure),
    /// The environment did not come up.
    NotStarted(Outcome),
    /// The environment went away under the command.
    Lost,
    /// A signal came before the command ran.
    Interrupted(i32),
}

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Signals,
    Link,
    Starter,
    Agent,
    Keyboard,
    Screen,
    Master,
}

/// A command being run for the caller.
#[derive(Debug)]
pub struct Session {
    signals: SignalFd,
    link: Link<Reply, Request>,
    starter: Option<Starter>,
    /// Becomes readable when the agent is gone.
    agent: Option<OwnedFd>,
    console: Option<Console>,
    neighbours: Neighbours,
    /// The environment is up, and the agent has not answered yet, or not said that the command runs.
    hello_by: Option<Instant>,
    greeted: bool,
    running: bool,
    /// Signals that came between the agent's greeting and its word that the command runs.
    early: Vec<Received>,
    /// Descriptors of this process that the command has now.
    handed_on: Vec<u16>,
    /// What the agent has to say to a person.
    notes: fn(&str),
    /// For another try, as long as the command does not run.
    spare: Option<Streams>,
    /// What is asked for when the agent has answered, with the command's descriptors.
    question: Option<(Request, Vec<OwnedFd>)>,
}

impl Session {
    /// Prepares to receive the caller's signals. Comes before anything that starts a thread or process.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn signals() -> Result<SignalFd, SessionError> {
        SignalFd::receive(SignalSet::catchable().without(Signal::CHILD.as_raw()))
            .map_err(SessionError::Signals)
    }

    /// Opens a session and asks for the command: [`Request::Exec`] or [`Request::Join`].
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn open(
        signals: SignalFd,
        started: Started,
        request: &Request,
        streams: Streams,
    ) -> Result<Self, SessionError> {
        let mut session = Self::join(signals, started, &streams)?;
        session.link.say(&Request::Hello { version: VERSION });
        session.link.ask(request, streams.descriptors)?;
        Ok(session)
    }

    /// Opens a session with an agent that was up before, and may be dead or stopped: it is asked when it has answered. What
    /// was passed to one that never reads would stay open for ever.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn open_when_answered(
        signals: SignalFd,
        started: Started,
        request: Request,
        streams: Streams,
    ) -> Result<Self, SessionError> {
        let mut session = Self::join(signals, started, &streams)?;
        session.link.say(&Request::Hello { version: VERSION });
        session.question = Some((request, streams.descriptors));
        Ok(session)
    }

    /// Has what the agent says to a person given to `notes`.
    #[must_use]
    pub fn with_notes(mut self, notes: fn(&str)) -> Self {
        self.notes = notes;
        self
    }

    /// Whether the agent says anything within a time: whoever listens in its place may be dead.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn is_answered(&mut self, within: Duration) -> Result<bool, SessionError> {
        self.link.flush();
        let limit = Timespec::try_from(within).ok();
        let mut polled = [PollFd::new(&self.link, PollFlags::IN)];
        match poll(&mut polled, limit.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            // A signal: it is seen to when the session runs.
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(error) => Err(SessionError::Wait(error.into())),
        }
    }

    /// Keeps the streams for another try. They go when the command runs: then nobody else is to have them.
    #[must_use]
    pub fn with_spare(mut self, streams: Streams) -> Self {
        self.spare = Some(streams);
        self
    }

    /// The streams for another try, unless the command has run.
    #[must_use]
    pub fn into_spare(self) -> Option<Streams> {
        self.spare
    }

    /// Joins a session in which somebody else has asked for the command.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn join(signals: SignalFd, started: Started, streams: &Streams) -> Result<Self, SessionError> {
        let has_whole_screen = streams.has_whole_screen();
        Ok(Self {
            signals,
            link: Link::new(started.socket).map_err(SessionError::Connection)?,
            // What is up already answers soon.
            hello_by: started.starter.is_none().then(|| Instant::now() + ANSWER_WITHIN),
            starter: started.starter,
            agent: None,
            console: streams
                .window
                .is_some()
                .then(|| Console::open(streams.is_forced, has_whole_screen))
                .transpose()?,
            neighbours: Neighbours::default(),
            greeted: false,
            running: false,
            early: Vec::new(),
            handed_on: streams.passed().collect(),
            notes: |_| {},
            spare: None,
            question: None,
        })
    }

    /// Runs until the command has ended.
    ///
    /// # Errors
    /// [`SessionError`]; the terminal is as it was.
    pub fn run(&mut self) -> Result<End, SessionError> {
        let end = self.run_on();
        match self.console.as_mut().and_then(|console| console.finish(&self.signals)) {
            Some(signal) => Ok(End::Interrupted(signal)),
            None => end,
        }
    }

    fn run_on(&mut self) -> Result<End, SessionError> {
        loop {
            self.link.flush();
            if let Some(console) = &mut self.console {
                console.flush();
            }
            if self.hello_by.is_some_and(|limit| Instant::now() > limit) {
                return Err(SessionError::NoAnswer);
            }
            for source in self.wait()? {
                if let Some(end) = self.serve(source)? {
                    return Ok(end);
                }
            }
        }
    }

    fn wait(&self) -> Result<Vec<Source>, SessionError> {
        let mut sources = vec![Source::Signals];
        let mut polled = vec![PollFd::new(&self.signals, PollFlags::IN)];
        if !self.link.ended() {
            let out = if self.link.is_sending() { PollFlags::OUT } else { PollFlags::empty() };
            sources.push(Source::Link);
            polled.push(PollFd::new(&self.link, PollFlags::IN | out));
        }
        if let Some(starter) = &self.starter {
            sources.push(Source::Starter);
            polled.push(PollFd::new(starter, PollFlags::IN));
        }
        if let Some(agent) = &self.agent {
            sources.push(Source::Agent);
            polled.push(PollFd::new(agent, PollFlags::IN));
        }
        let mut limit = self.hello_by.map(|limit| limit.saturating_duration_since(Instant::now()));
        if let Some(console) = self.console.as_ref().filter(|_| self.running) {
            for (source, descriptor, flags) in console.interest() {
                sources.push(source);
                polled.push(PollFd::from_borrowed_fd(descriptor, flags));
            }
            limit = limit.or(console.look_again());
        }
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        match poll(&mut polled, limit.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(SessionError::Wait(error.into())),
        }
        let ready = sources.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        Ok(ready.map(|(source, _)| *source).collect())
    }

    fn serve(&mut self, source: Source) -> Result<Option<End>, SessionError> {
        match source {
            Source::Signals => return self.receive_signals(),
            Source::Link => {
                self.link.fill();
                return self.frames();
            }
            Source::Starter => return self.starter_ended(),
            Source::Agent => {
                self.agent = None;
                // What the agent said last comes first.
                let end = self.read_all()?;
                return Ok(Some(end.unwrap_or(End::Lost)));
            }
            Source::Keyboard => {
                let neighbours = &mut self.neighbours;
                let gone = self.console.as_mut().is_some_and(|console| console.read_keyboard(neighbours));
                if gone {
                    self.hung_up();
                }
            }
            Source::Master => {
                if let Some(console) = &mut self.console {
                    let _ = console.read_master();
                }
            }
            // Written by the flush before the next wait.
            Source::Screen => {}
        }
        Ok(None)
    }

    /// Reads and acts on all that the agent has said so far.
    fn read_all(&mut self) -> Result<Option<End>, SessionError> {
        while self.link.fill() {
            if let Some(end) = self.frames()? {
                return Ok(Some(end));
            }
        }
        self.frames()
    }

    fn frames(&mut self) -> Result<Option<End>, SessionError> {
        while let Some(frame) = self.link.next_frame()? {
            if let Some(end) = self.act(frame)? {
                return Ok(Some(end));
            }
        }
        // With the starter still at work its own words say more than the closed connection.
        if self.link.ended() && self.starter.is_none() {
            return Ok(Some(End::Lost));
        }
        Ok(None)
    }

    fn act(&mut self, frame: Frame<Reply>) -> Result<Option<End>, SessionError> {
        let Frame::Message(reply) = frame else { return Ok(None) };
        match reply {
            Reply::Hello { version, agent, watch } => {
                if !flake_wire::understands(version) {
                    return Err(SessionError::Version(agent));
                }
                self.greeted = true;
                self.hello_by = Some(Instant::now() + HELLO_WITHIN);
                self.agent = if watch { self.link.take_passed() } else { None };
                if let Some((request, descriptors)) = self.question.take() {
                    self.link.ask(&request, descriptors)?;
                }
            }
            Reply::Started { .. } => {
                self.running = true;
                self.hello_by = None;
                self.spare = None;
                // From here on only the command has them, so that closing one is seen at its other end.
                for number in self.handed_on.drain(..) {
                    inherited::release(number);
                }
                if let Some(console) = &mut self.console
                    && let Some(first) = self.link.take_passed()
                {
                    console.attach(Line::new(first, self.link.take_passed())?);
                    // It may have changed since the request was made.
                    let window = console.window();
                    self.link.say(&Request::Resize(window));
                }
                for received in std::mem::take(&mut self.early) {
                    self.receive_signal(received)?;
                }
            }
            Reply::Stopped { signal } if is_a_stop(i32::from(signal)) => self.stop(i32::from(signal)),
            Reply::Exit(Closing::Exited(status)) => return Ok(Some(End::Exited(status))),
            Reply::Exit(Closing::Killed(signal)) if is_a_death(i32::from(signal)) => {
                return Ok(Some(End::Killed(i32::from(signal))));
            }
            Reply::Exit(Closing::Killed(_)) => return Ok(Some(End::Lost)),
            Reply::Note { text } => (self.notes)(&text),
            Reply::Failed(failure) => return Ok(Some(End::Failed(failure))),
            _ => {}
        }
        Ok(None)
    }

    /// What brings the environment up is done.
    fn starter_ended(&mut self) -> Result<Option<End>, SessionError> {
        let Some(starter) = self.starter.take() else { return Ok(None) };
        let outcome = starter.finish().map_err(SessionError::Wait)?;
        if !self.running && !matches!(outcome, Outcome::Up) {
            return Ok(Some(End::NotStarted(outcome)));
        }
        if !self.greeted {
            self.hello_by = Some(Instant::now() + HELLO_WITHIN);
        }
        self.frames()
    }
}
