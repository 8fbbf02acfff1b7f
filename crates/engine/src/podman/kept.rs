//! Containers that outlive their calls: entering one, making it, starting it again, removing it.
//!
//! A call enters through the socket that the instance's note names, and asks podman nothing. Only when nobody answers
//! there, podman is asked what has become of the container, under the instance's lock.

mod greet;
mod passing;
mod room;
mod start;

use super::{Podman, words};
use crate::start::EngineError;
use flake_core::instance::{InUse, Instance, Made, Notes};
use flake_core::launch::Launch;
use flake_core::provision::Moment;
use flake_schema::{Flake, Settings};
use flake_sys::{interrupt, peer};
use flake_tools::podman::Kept;
use flake_wire::{ENDED_TO_BE_REMOVED, ENDED_TO_RESTART};
use rustix::net::sockopt::set_socket_timeout;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::geteuid;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a full queue of connections is waited for.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// How long an agent that ends gives its commands, and a bit.
const END_WITHIN: Duration = Duration::from_secs(8);
/// How long podman may take to hear of an end.
const HEAR_WITHIN: Duration = Duration::from_secs(1);
/// How long an agent may be silent before podman is asked whether it is there.
const LOOK_AFTER: Duration = Duration::from_secs(1);
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
    /// What a person may want to know.
    pub notice: &'a dyn Fn(&str),
    /// Lines of scripts, and of what is waited for.
    pub progress: &'a dyn Fn(&str),
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
                // By the podman of a launcher that was killed while it made the instance.
                Err(EngineError::NameInUse(_)) if Instant::now() < by => {
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

    /// What has become of the container. An agent that ends turns callers away before its container is gone.
    fn settled(&self, name: &str) -> Result<Option<Kept>, EngineError> {
        let start = Instant::now();
        let has_socket = self.notes.read(self.instance).is_some_and(|made| made.socket.exists());
        loop {
            let found = self.engine.tool.kept(name)?;
            let Some(state) =
                found.as_ref().map(|kept| &kept.state).filter(|state| has_socket && state.running)
            else {
                return Ok(found);
            };
            // Nobody may be left who tells podman.
            let within = if state.is_there() { END_WITHIN } else { HEAR_WITHIN };
            if start.elapsed() > within {
                return Ok(found);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether podman says that the instance's container runs.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn is_running(&self) -> Result<bool, EngineError> {
        let found = self.engine.tool.kept(&self.instance.container_name())?;
        Ok(found.is_some_and(|kept| kept.state.running))
    }

    /// Removes the instance with all that is in it.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn remove(&self) -> Result<(), EngineError> {
        let _making = self.notes.lock(self.instance)?;
        self.remove_locked()
    }

    /// Makes the instance anew, and enters it.
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
        // Half gone would be worse than not at all.
        interrupt::held(|| {
            let made = self.notes.read(self.instance);
            self.notes.forget(self.instance)?;
            self.engine.tool.remove_container(&self.instance.container_name())?;
            if let Some(made) = made {
                made.remove_socket();
            }
            Ok(())
        })
    }

    /// Makes the container and all that belongs to it. What fails leaves nothing.
    fn make(&self) -> Result<Made, EngineError> {
        self.engine.import(self.launch, self.state_dir, false, || (self.notice)("setting up the image"))?;
        self.make_room()?;
        let made = self.run_new().and_then(|started| {
            let made = self.finish(started, Moment::Made)?;
            Ok(made)
        });
        if made.is_err() {
            let name = self.instance.container_name();
            let _ = interrupt::held(|| self.engine.tool.remove_container(&name));
        }
        made
    }

    /// Starts a container that is there, or makes another when it is of no more use.
    fn start_again(&self, kept: &Kept, name: &str) -> Result<Made, EngineError> {
        if Instance::labelled(|name| kept.label(name)).as_ref() != Some(self.instance) {
            return Err(EngineError::SomebodyElses(name.to_owned()));
        }
        let before = self.notes.read(self.instance);
        let ended = u8::try_from(kept.state.exit_code).ok().filter(|_| !kept.state.running);
        if ended == Some(ENDED_TO_BE_REMOVED) {
            (self.notice)(&format!("{}; made anew", self.engine.tool.last_words(name)));
            self.remove_locked()?;
            return self.make();
        }
        if kept.state.status == "removing" {
            self.remove_locked()?;
            return self.make();
        }
        // Without a note it is one whose note was lost, or one that was never finished.
        if before.is_none() && (kept.state.status == "created" || !self.was_finished(kept, name)?) {
            self.remove_locked()?;
            return self.make();
        }
        if ended == Some(ENDED_TO_RESTART) {
            (self.notice)(&format!("{}; started again", self.engine.tool.last_words(name)));
        }
        if kept.state.running || kept.state.status == "stopping" {
            self.engine.tool.stop(name, GRACE)?;
        }
        if let Some(before) = &before {
            before.remove_socket();
        }
        let made_of = before.map(|before| before.made_of);
        let made = self.run_again(name, &kept.id).and_then(|started| self.finish(started, Moment::Started));
        match made {
            Ok(made) => Ok(Made { made_of: made_of.unwrap_or(made.made_of), ..made }),
            Err(error) => {
                let _ = interrupt::held(|| self.engine.tool.stop(name, GRACE));
                Err(error)
            }
        }
    }

    /// A fingerprint of what decides how the instance is made.
    pub(super) fn made_of(&self) -> Result<String, EngineError> {
        let words = words::kept(self.launch, self.engine.is_root)?;
        let words = words.iter().map(|word| word.as_encoded_bytes());
        Ok(fingerprint(words.chain([self.launch.image_state.as_bytes()])))
    }
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

/// A fingerprint of words: the same for every release, unlike the standard library's hashes.
fn fingerprint<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    format!("{:032x}", fnv(parts.flat_map(|part| part.iter().copied().chain([0]))))
}

/// FNV-1a of 128 bits (draft-eastlake-fnv).
fn fnv(bytes: impl Iterator<Item = u8>) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_tells_words_apart() {
        let of = |words: &[&str]| fingerprint(words.iter().map(|word| word.as_bytes()));
        // The vector of the draft.
        assert_eq!(fnv(b"a".iter().copied()), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
    }
}
