//! Starting a kept container with a socket handed over, and all that comes before the first call.

use super::greet::greeted;
use super::image_user::Said;
use super::{Keeper, LOOK_AFTER, connect_to};
use crate::guest::AgentGuest;
use crate::podman::words;
use crate::rendezvous::{Name, Rendezvous};
use crate::start::{EngineError, Outcome, system};
use flake_core::guest::Guest;
use flake_core::instance::{Made, label};
use flake_core::probe;
use flake_core::provision::{self, Moment};
use flake_schema::Target;
use flake_tools::podman::Kept;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the agent may take to answer once podman has started it.
const UP_WITHIN: Duration = Duration::from_secs(30);
/// The file inside that says that a new instance was finished.
const FINISHED: &str = "/var/lib/sci/finished";
/// More than it has, in bytes.
const MOST: usize = 16;

/// A container that was started, and where its agent listens.
pub(super) struct Running {
    id: String,
    socket: Name,
    /// The image's user, where the agent is another.
    said: Option<Said>,
}

impl Keeper<'_> {
    /// Makes the container and starts it.
    pub(super) fn run_new(&self) -> Result<Running, EngineError> {
        let Self { engine, launch, .. } = self;
        let made_of = self.made_of()?;
        let (runs_image, needs_root) = (launch.target == Target::Entrypoint, self.needs_root());
        let config =
            (runs_image || needs_root).then(|| engine.tool.image_inspect(&launch.image)).transpose()?;
        let config = config.and_then(|image| image.config).unwrap_or_default();
        let said = Said::by(&config).filter(|_| needs_root);
        let (user, home) = said.as_ref().map_or(("", None), |said| (&said.user, said.home.as_deref()));
        // Labels of the image could say the same; what is said here is said in their place.
        let labels = [
            (label::MADE_OF, made_of.as_str()),
            (label::IMAGE_USER, user),
            (label::IMAGE_HOME, home.unwrap_or_default()),
        ];
        let options = words::kept(launch, engine.is_root, needs_root)?;
        let mut words = words::keep((launch, self.instance), &labels, &engine.agent, options);
        if runs_image {
            // The mark has taken the place of the image's command, which a call without words runs.
            words.extend(config.cmd.into_iter().flatten().map(OsString::from));
        }
        self.start(words, None)
    }

    /// Starts a container that is there.
    pub(super) fn run_again(&self, name: &str, kept: &Kept) -> Result<Running, EngineError> {
        let words = ["podman", "start", "--", name].map(OsString::from).to_vec();
        self.start(words, Some(kept))
    }

    fn start(&self, words: Vec<OsString>, kept: Option<&Kept>) -> Result<Running, EngineError> {
        let Rendezvous { listener, name: socket } =
            Rendezvous::open(self.runtime).map_err(system("cannot make a socket for the instance"))?;
        self.notes.listens_next(self.instance, &socket.path)?;
        // It is podman's alone from here on: where a podman of somebody who was killed has started the container
        // meanwhile, with a socket of its own, nobody listens here, and that is seen.
        let starter = self.engine.spawn(words, OwnedFd::from(listener))?;
        match starter.finish().map_err(system("cannot wait for podman"))? {
            Outcome::Up => {}
            Outcome::Failed(status, said) => {
                use crate::start::Engine;
                return Err(self.engine.explain(self.launch, status, &said));
            }
            Outcome::Refused(why) => return Err(EngineError::Failed { said: why }),
        }
        let found;
        let kept = match kept {
            Some(kept) => kept,
            None => {
                found =
                    self.engine.tool.kept(&self.instance.container_name())?.ok_or(EngineError::Vanished)?;
                &found
            }
        };
        Ok(Running { id: kept.id.clone(), socket, said: Said::noted(kept) })
    }

    /// Provisions what was started, waits until it is ready, and has it watched.
    pub(super) fn finish(&self, running: Running, moment: Moment) -> Result<Made, EngineError> {
        let Running { id, socket, said } = running;
        let path = socket.path.clone();
        self.await_agent(&path)?;
        let mut guest = self.guest(path);
        let user = said.map(|said| said.find(&mut guest)).transpose()?;
        guest.set_user(user.clone());
        let report = &mut |line: &str| (self.notice)(line);
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
        Ok(Made { id, made_of: self.made_of()?, socket: socket.keep(), user })
    }

    /// Waits until the agent answers. Podman keeps its socket, also when it was killed before it could.
    fn await_agent(&self, path: &Path) -> Result<(), EngineError> {
        let by = Instant::now() + UP_WITHIN;
        loop {
            let next = Instant::now() + LOOK_AFTER;
            match greeted(connect_to(path).ok_or(EngineError::Vanished)?, LOOK_AFTER) {
                // Nothing was said at all.
                Err(EngineError::Silent) if (next..by).contains(&Instant::now()) => {
                    if !self.is_running()? {
                        return Err(EngineError::Vanished);
                    }
                }
                done => return done.map(drop),
            }
        }
    }

    /// Whether what was started was finished once.
    pub(super) fn is_finished(&self, running: &Running) -> Result<bool, EngineError> {
        Ok(self.guest(running.socket.path.clone()).read(FINISHED, MOST)?.is_some())
    }

    fn guest(&self, path: PathBuf) -> AgentGuest<'_> {
        let connect = move || connect_to(&path).ok_or_else(|| std::io::ErrorKind::ConnectionRefused.into());
        AgentGuest::new(Box::new(connect), self.launch)
    }
}
