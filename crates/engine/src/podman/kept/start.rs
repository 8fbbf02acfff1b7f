//! Starting a kept container with a socket handed over, and all that comes before the first call.

use super::greet::greeted;
use super::{Keeper, connect_to};
use crate::guest::AgentGuest;
use crate::podman::words;
use crate::rendezvous::Rendezvous;
use crate::start::{EngineError, Outcome, system};
use flake_core::guest::Guest;
use flake_core::instance::Made;
use flake_core::probe;
use flake_core::provision::{self, Moment};
use flake_schema::Target;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

/// How long the agent may take to answer once podman has started it.
const UP_WITHIN: Duration = Duration::from_secs(30);
/// The file inside that says that a new instance was finished.
const FINISHED: &str = "/var/lib/sci/finished";
/// More than it has, in bytes.
const MOST: usize = 16;

/// A container that was started, and where its agent listens.
pub(super) struct Running {
    id: String,
    socket: Rendezvous,
}

impl Keeper<'_> {
    /// Makes the container and starts it.
    pub(super) fn run_new(&self) -> Result<Running, EngineError> {
        let Self { engine, launch, .. } = self;
        let made_of = self.made_of()?;
        let mut words = words::keep(launch, (self.instance, &made_of), &engine.agent, engine.is_root)?;
        if launch.target == Target::Entrypoint {
            // The mark has taken the place of the image's command, which a call without words runs.
            let command = engine.tool.image_inspect(&launch.image)?.config.and_then(|config| config.cmd);
            words.extend(command.into_iter().flatten().map(OsString::from));
        }
        self.start(words, None)
    }

    /// Starts a container that is there.
    pub(super) fn run_again(&self, name: &str, id: &str) -> Result<Running, EngineError> {
        self.start(["podman", "start", "--", name].map(OsString::from).to_vec(), Some(id))
    }

    fn start(&self, words: Vec<OsString>, id: Option<&str>) -> Result<Running, EngineError> {
        let socket =
            Rendezvous::open(self.runtime).map_err(system("cannot make a socket for the instance"))?;
        let listener = socket.listener.try_clone().map_err(system("cannot pass a socket"))?;
        let starter = self.engine.spawn(words, OwnedFd::from(listener))?;
        match starter.finish().map_err(system("cannot wait for podman"))? {
            Outcome::Up => {}
            Outcome::Failed(status, said) => {
                use crate::start::Engine;
                return Err(self.engine.explain(self.launch, status, &said));
            }
            Outcome::Refused(why) => return Err(EngineError::Failed { said: why }),
        }
        let id = match id {
            Some(id) => id.to_owned(),
            None => {
                let found = self.engine.tool.kept(&self.instance.container_name())?;
                found.ok_or(EngineError::Vanished)?.id
            }
        };
        Ok(Running { id, socket })
    }

    /// Provisions what was started, waits until it is ready, and has it watched.
    pub(super) fn finish(&self, running: Running, moment: Moment) -> Result<Made, EngineError> {
        let Running { id, socket } = running;
        let path = socket.path.clone();
        greeted(connect_to(&path).ok_or(EngineError::Vanished)?, UP_WITHIN)?;
        let mut guest = self.guest(path);
        let report = &mut |line: &str| (self.progress)(line);
        let params = &self.flake.param;
        provision::run(&mut guest, &self.flake.provision, params, moment, report)?;
        probe::await_ready(&mut guest, &self.flake.probes, params, report)?;
        let checks = probe::liveness(&self.flake.probes, params);
        if !checks.is_empty() {
            guest.watch(&checks)?;
        }
        if moment == Moment::Made && !self.flake.provision.is_empty() {
            guest.write(FINISHED, b"yes\n")?;
        }
        Ok(Made { id, made_of: self.made_of()?, socket: socket.keep() })
    }

    /// Whether a container without a note was finished once: without scripts there is nothing to finish.
    pub(super) fn was_finished(
        &self,
        kept: &flake_tools::podman::Kept,
        name: &str,
    ) -> Result<bool, EngineError> {
        if self.flake.provision.is_empty() {
            return Ok(true);
        }
        if kept.state.running || kept.state.status == "stopping" {
            self.engine.tool.stop(name, super::GRACE)?;
        }
        let running = self.run_again(name, &kept.id)?;
        let mut guest = self.guest(running.socket.path.clone());
        let is_finished = guest.read(FINISHED, MOST)?.is_some();
        drop(guest);
        self.engine.tool.stop(name, super::GRACE)?;
        Ok(is_finished)
    }

    fn guest(&self, path: PathBuf) -> AgentGuest<'_> {
        let connect = move || connect_to(&path).ok_or_else(|| std::io::ErrorKind::ConnectionRefused.into());
        AgentGuest::new(Box::new(connect), self.launch)
    }
}
