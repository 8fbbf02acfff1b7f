//! The caller's working directory in an instance that runs already.

use super::greet::greeted;
use super::{Keeper, connect_to};
use crate::start::{EngineError, system};
use flake_sys::graft::Graft;
use flake_sys::spawn;
use rustix::fs::{Mode, OFlags, open};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// How long the agent may take to say who it is.
const GREETED_WITHIN: Duration = Duration::from_secs(10);

impl Keeper<'_> {
    /// Mounts the working directory that the call shares, where the instance does not have it yet.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn share(&self) -> Result<(), EngineError> {
        let Some(passing) = &self.launch.passing else { return Ok(()) };
        // Two calls at once would mount it twice.
        let _making = self.notes.lock(self.instance)?;
        let made = self.notes.read(self.instance).ok_or(EngineError::Vanished)?;
        let socket = connect_to(&made.socket).ok_or(EngineError::Vanished)?;
        let agent = greeted(socket, GREETED_WITHIN)?;
        let folder = passing.source.as_deref().unwrap_or(Path::new("."));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder =
            open(folder, flags, Mode::empty()).map_err(system("cannot open the working directory"))?;
        let graft = Graft {
            container: agent.as_fd(),
            folder: folder.as_fd(),
            target: &passing.path,
            read_only: passing.read_only,
        };
        spawn::await_one_thread();
        Ok(graft.mount()?)
    }
}
