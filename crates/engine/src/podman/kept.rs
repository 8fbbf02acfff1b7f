//! Containers that outlive their calls: entering one, making it, starting it again, removing it.
//!
//! A call enters through the socket that the instance's note names, and asks podman nothing. Only when nobody answers
//! there, podman is asked what has become of the container, under the instance's lock.

mod again;
mod fingerprint;
mod greet;
pub(crate) mod image_user;
mod passing;
mod request;
mod room;
mod start;

use super::{Podman, words};
use crate::start::EngineError;
use fingerprint::fingerprint;
use flake_core::instance::{InUse, Instance, Made, Notes};
use flake_core::launch::Launch;
use flake_core::provision::Moment;
use flake_schema::{Flake, Settings};
use flake_sys::{interrupt, peer};
use flake_tools::podman::Podman as Tool;
use rustix::net::sockopt::set_socket_timeout;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::geteuid;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a full queue of connections is waited for.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// How long an agent may be silent before podman is asked whether it is there.
pub const LOOK_AFTER: Duration = Duration::from_secs(1);
/// How long calls that are about to end may keep an instance from being started again.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);
/// How long a container is given to end by itself, in seconds.
const GRACE: u32 = 2;

/// A kept instance, for one call of one flake.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it has closures")]
pub struct Keeper<'a> {
    /// The engine.
    pub engine: &'a Podman,
    /// The call.
    pub launch: &'a Launch,
    /// Its flake.
    pub flake: &'a Flake,
    /// The settings in force.
    pub settings: &'a Settings,
    /// What is noted about the instances of the group.
    pub notes: &'a Notes,
    /// The instance.
    pub instance: &'a Instance,
    /// The folder for what is kept about the user.
    pub state_dir: &'a Path,
    /// The caller's runtime folder.
    pub runtime: Option<&'a Path>,
    /// What a person may want to know, lines of scripts and of what is waited for among it.
    pub notice: &'a dyn Fn(&str),
}

/// A connection to the agent of a kept instance.
#[derive(Debug)]
pub struct Entered {
    /// The connection.
    pub socket: OwnedFd,
    /// What is noted about it.
    pub made: Made,
    /// The instance is in use while this lives.
    pub in_use: InUse,
}

impl Keeper<'_> {
    /// Enters the instance, if somebody listens there.
    #[must_use]
    pub fn enter(&self) -> Option<Entered> {
        let (made, in_use) = self.notes.enter(self.instance)?;
        let socket = connect_to(&made.socket)?;
        Some(Entered { socket, made, in_use })
    }

    /// Enters the instance, which is brought up when its agent does not say a word.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn enter_certainly(&self) -> Result<Entered, EngineError> {
        let mut silent = None;
        loop {
            let entered = self.enter().filter(|entered| Some(&entered.made) != silent.as_ref());
            let entered = entered.map_or_else(|| self.bring_up(silent.as_ref()), Ok)?;
            let greeting = connect_to(&entered.made.socket).ok_or(EngineError::Vanished);
            match greeting.and_then(|socket| greet::greeted(socket, LOOK_AFTER)) {
                Ok(_) => return Ok(entered),
                Err(error) if silent.is_some() || self.is_running()? => return Err(error),
                Err(_) => silent = Some(entered.made),
            }
        }
    }

    /// Whether the instance is not what a new one would be: the image or the flake was changed since.
    ///
    /// # Errors
    /// An option of the flake cannot be used.
    pub fn is_outdated(&self, made: &Made) -> Result<bool, EngineError> {
        Ok(made.made_of != self.made_of()?)
    }

    /// Sees to it that the instance is there and up, and enters it. What was entered before and did not answer is
    /// `silent`. One call at a time does this; the others find it done.
    ///
    /// # Errors
    /// [`EngineError`]; nothing half-made is left.
    pub fn bring_up(&self, silent: Option<&Made>) -> Result<Entered, EngineError> {
        let by = Instant::now() + LEAVE_WITHIN;
        loop {
            let making = self.notes.lock(self.instance)?;
            if let Some(entered) = self.enter().filter(|entered| Some(&entered.made) != silent) {
                return Ok(entered);
            }
            let name = self.instance.container_name();
            let found = self.settled(&name)?;
            let is_lost = found.as_ref().is_some_and(|kept| kept.state.running);
            if is_lost && self.notes.is_in_use(self.instance) {
                drop(making);
                if Instant::now() > by {
                    return Err(EngineError::OutOfReach(self.instance.called_by(self.launch.name.as_str())));
                }
                std::thread::sleep(Duration::from_millis(50));
                continue;
            }
            let is_new = found.is_none();
            let made = match found {
                None => self.make(),
                Some(kept) => self.start_again(&kept, &name),
            };
            let made = match made {
                // By the podman of a launcher that was killed while it made the instance, or started it.
                Err(EngineError::NameInUse(_) | EngineError::Vanished) if Instant::now() < by => {
                    drop(making);
                    std::thread::sleep(Duration::from_millis(50));
                    continue;
                }
                made => made?,
            };
            self.note(&made, is_new)?;
            return self.enter().ok_or(EngineError::Vanished);
        }
    }

    /// Notes what was made or started. Without a note a new one is half-made.
    fn note(&self, made: &Made, is_new: bool) -> Result<(), EngineError> {
        self.notes.write(self.instance, made).map_err(|error| {
            made.remove_socket();
            if is_new {
                let name = self.instance.container_name();
                let _ = interrupt::held(|| self.engine.tool.remove_container(&name));
            }
            error.into()
        })
    }

    /// Whether podman says that the instance's container runs, and is right: nobody may be left who tells it of the end.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn is_running(&self) -> Result<bool, EngineError> {
        let found = self.engine.tool.kept(&self.instance.container_name())?;
        Ok(found.is_some_and(|kept| kept.state.running && kept.state.is_there()))
    }

    /// Removes the instance with all that is in it.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn remove(&self) -> Result<(), EngineError> {
        let _making = self.notes.lock(self.instance)?;
        self.remove_locked()
    }

    /// Makes the instance anew.
    ///
    /// # Errors
    /// [`EngineError`]; the old one is gone.
    pub fn remake(&self) -> Result<(), EngineError> {
        let _making = self.notes.lock(self.instance)?;
        self.remove_locked()?;
        let made = self.make()?;
        self.note(&made, true)
    }

    fn remove_locked(&self) -> Result<(), EngineError> {
        remove(&self.engine.tool, self.notes, self.instance)
    }

    /// Makes the container and all that belongs to it. What fails leaves nothing.
    fn make(&self) -> Result<Made, EngineError> {
        self.engine.import(self.launch, self.state_dir, false, || (self.notice)("setting up the image"))?;
        self.make_room()?;
        let made = self.run_new().and_then(|started| self.finish(started, Moment::Made));
        if made.is_err() {
            let name = self.instance.container_name();
            let _ = interrupt::held(|| self.engine.tool.remove_container(&name));
        }
        made
    }

    /// A fingerprint of what decides how the instance is made.
    pub(super) fn made_of(&self) -> Result<String, EngineError> {
        let words = words::kept(self.launch, self.engine.is_root, self.needs_root())?;
        let words = words.iter().map(|word| word.as_encoded_bytes());
        Ok(fingerprint(words.chain([self.launch.image_state.as_bytes()])))
    }
}

/// Removes an instance with all that is in it, and what is noted about it. Its lock is the caller's.
///
/// # Errors
/// Podman's own failure, or the note's.
pub fn remove(tool: &Tool, notes: &Notes, instance: &Instance) -> Result<(), EngineError> {
    // In this order: a note alone is harmless, a container alone would be started again by the next call.
    interrupt::held(|| {
        tool.remove_container(&instance.container_name())?;
        Ok(notes.forget(instance)?)
    })
}

/// Connects to an agent's socket that this user made.
fn connect_to(path: &Path) -> Option<OwnedFd> {
    let address = SocketAddrUnix::new(path).ok()?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).ok()?;
    let _ = set_socket_timeout(&socket, rustix::net::sockopt::Timeout::Send, Some(CONNECT_WITHIN));
    connect(&socket, &address).ok()?;
    // Below /tmp somebody else could have made it, after a restart of the host.
    peer::of(&socket).is_ok_and(|peer| peer.uid == geteuid().as_raw()).then_some(socket)
}
