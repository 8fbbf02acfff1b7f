//! An instance that is up, reached through its agent: what provisioning and probing need of one, an operation a
//! connection.

mod run;
mod talk;
#[cfg(test)]
mod tests;
mod who;

use flake_core::guest::{Guest, GuestError, Heard, Script, ScriptEnd};
use flake_core::instance::ImageUser;
use flake_core::launch::Launch;
use flake_core::probe::Check;
use flake_schema::{ProbeAction, ProvisionMode};
use flake_wire::{Action, DATA_MAX, Frame, Liveness, Reply, Request, WINDOW};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use talk::{Talk, strayed};
use who::Who;

/// Gives a new connection to the agent.
pub type Connect<'a> = Box<dyn Fn() -> io::Result<OwnedFd> + 'a>;

/// How long the agent may take to greet, and to answer what takes no time.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// The stream that a file's content has.
const CONTENT: u16 = 0;
/// The agent's own state: the numbers that it has inside (proc(5)).
const OWN_STATUS: &str = "/proc/self/status";
/// The most bytes that this has.
const STATUS_MOST: usize = 16 << 10;

/// An instance, as its agent makes it reachable.
pub struct AgentGuest<'a> {
    connect: Connect<'a>,
    launch: &'a Launch,
    /// The user that the agent is inside, once it was looked up.
    agent: Option<Option<u32>>,
    /// As whom calls run, where the agent is root instead of the image's user.
    user: Option<ImageUser>,
    answer_within: Duration,
}

impl<'a> AgentGuest<'a> {
    /// An instance of a launch. Scripts of its user run as whom a call does, with the same variables.
    #[must_use]
    pub fn new(connect: Connect<'a>, launch: &'a Launch) -> Self {
        Self { connect, launch, agent: None, user: None, answer_within: ANSWER_WITHIN }
    }

    /// Says whom calls run as, where the agent is root instead of the image's user.
    pub(crate) fn set_user(&mut self, user: Option<ImageUser>) {
        self.user = user;
    }

    fn talk(&self) -> Result<Talk, GuestError> {
        Talk::open((self.connect)(), self.answer_within)
    }

    /// As whom a script runs. An agent without the right to change users can still run what is to run as itself.
    fn who(&mut self, mode: ProvisionMode) -> Result<Who, GuestError> {
        let agent = match self.agent {
            Some(agent) => agent,
            None => {
                let status = self.read(OWN_STATUS, STATUS_MOST)?;
                *self.agent.insert(status.as_deref().and_then(who::uid))
            }
        };
        Ok(Who::new(mode, self.launch, agent, self.user.as_ref()))
    }
}

impl std::fmt::Debug for AgentGuest<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AgentGuest").field("launch", &self.launch.name).finish_non_exhaustive()
    }
}

impl Guest for AgentGuest<'_> {
    fn run(
        &mut self,
        script: &Script<'_>,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<ScriptEnd, GuestError> {
        let who = self.who(script.mode)?;
        run::run(self.talk()?, script, who, heard)
    }

    fn read(&mut self, path: &str, most: usize) -> Result<Option<Vec<u8>>, GuestError> {
        // More than this comes only on credit, which is not given.
        let most = most.min(WINDOW as usize - 1);
        let mut talk = self.talk()?;
        talk.ask(&Request::ReadFile { path: path.into() }, [])?;
        let mut content = Vec::new();
        loop {
            match talk.answer()? {
                Frame::Data { stream: CONTENT, bytes } => content.extend(bytes),
                Frame::Message(Reply::Eof { stream: CONTENT }) => return Ok(Some(content)),
                Frame::Message(Reply::Failed(_)) => return Ok(None),
                _ => return Err(strayed()),
            }
            if content.len() > most {
                return Ok(None);
            }
        }
    }

    fn write(&mut self, path: &str, content: &[u8]) -> Result<(), GuestError> {
        let mut talk = self.talk()?;
        talk.ask(&Request::WriteFile { path: path.into(), mode: 0o600 }, [])?;
        for part in content.chunks(DATA_MAX) {
            talk.send(CONTENT, part);
        }
        talk.ask(&Request::Eof { stream: CONTENT }, [])?;
        done(talk)
    }

    fn watch(&mut self, checks: &[Check]) -> Result<(), GuestError> {
        let who = self.who(ProvisionMode::User)?;
        let mut talk = self.talk()?;
        talk.ask(&Request::Watch(checks.iter().map(|check| liveness(check, &who)).collect()), [])?;
        done(talk)
    }
}

/// Waits until the agent says that it is done.
fn done(mut talk: Talk) -> Result<(), GuestError> {
    loop {
        match talk.answer()? {
            Frame::Message(Reply::Done) => return Ok(()),
            Frame::Message(Reply::Failed(failure)) => return Err(GuestError::Refused(failure.message)),
            Frame::Message(Reply::Credit { .. }) => {}
            _ => return Err(strayed()),
        }
    }
}

fn liveness(check: &Check, who: &Who) -> Liveness {
    Liveness {
        description: check.description.clone(),
        script: check.script.clone().into_bytes(),
        env: who.env_with(&check.env),
        user: who.ids.clone(),
        timeout_ms: millis(check.timeout),
        interval_ms: millis(check.interval),
        failures: check.failures,
        action: match check.action {
            ProbeAction::Restart => Action::Restart,
            ProbeAction::Remove => Action::Remove,
            ProbeAction::Report => Action::Report,
        },
    }
}

fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}
