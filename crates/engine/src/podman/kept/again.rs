//! Starting an instance again that stopped, or making another where it is of no more use.

use super::{GRACE, Keeper};
use crate::start::EngineError;
use flake_core::instance::{Instance, Made};
use flake_core::provision::Moment;
use flake_sys::interrupt;
use flake_tools::podman::Kept;
use flake_wire::{ENDED_TO_BE_REMOVED, ENDED_TO_RESTART};
use std::time::{Duration, Instant};

/// How long an agent that ends gives its commands, and a bit.
const END_WITHIN: Duration = Duration::from_secs(8);
/// How long podman may take to hear of an end.
const HEAR_WITHIN: Duration = Duration::from_secs(1);

impl Keeper<'_> {
    /// What has become of the container. An agent that ends turns callers away before its container is gone.
    pub(super) fn settled(&self, name: &str) -> Result<Option<Kept>, EngineError> {
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

    /// Starts a container that is there, or makes another when it is of no more use.
    pub(super) fn start_again(&self, kept: &Kept, name: &str) -> Result<Made, EngineError> {
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
        let made_of = before.map(|before| before.made_of);
        let made = self.run_again(name, kept).and_then(|started| self.finish(started, Moment::Started));
        match made {
            Ok(made) => Ok(Made { made_of: made_of.unwrap_or(made.made_of), ..made }),
            Err(error) => {
                let _ = interrupt::held(|| self.engine.tool.stop(name, GRACE));
                Err(error)
            }
        }
    }

    /// Whether a container without a note was finished once: without scripts there is nothing to finish.
    fn was_finished(&self, kept: &Kept, name: &str) -> Result<bool, EngineError> {
        if self.flake.provision.is_empty() {
            return Ok(true);
        }
        if kept.state.running || kept.state.status == "stopping" {
            self.engine.tool.stop(name, GRACE)?;
        }
        let running = self.run_again(name, kept)?;
        let is_finished = self.is_finished(&running)?;
        self.engine.tool.stop(name, GRACE)?;
        Ok(is_finished)
    }
}
