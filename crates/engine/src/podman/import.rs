//! The image of a system flake in a user's own store: imported from its archive at the first call, and
//! again when the archive has changed.

use super::Podman;
use crate::start::{EngineError, system};
use flake_core::launch::Launch;
use flake_sys::atomic;
use flake_tools::ToolError;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

impl Podman {
    /// Imports the image of a launch where that is needed. `notice` is called before it takes long.
    /// With `anew` the store's word counts, not what is noted about it: the image was found missing.
    ///
    /// # Errors
    /// [`EngineError`]; the image is there whole or not at all.
    pub fn import(
        &self,
        launch: &Launch,
        state_dir: &Path,
        anew: bool,
        notice: impl FnOnce(),
    ) -> Result<(), EngineError> {
        let Some(archive) = &launch.archive else { return Ok(()) };
        let folder = state_dir.join("images");
        let note = folder.join(format!("{}.imported", launch.name.as_str()));
        let state = format!("{}\n", launch.image_state);
        fs::metadata(archive).map_err(|error| unreadable(archive, &error))?;
        if !anew && is_noted(&note, &state) {
            return Ok(());
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|error| {
            EngineError::Failed { said: format!("cannot create {}: {error}", folder.display()) }
        })?;
        let lock = File::create(folder.join(format!("{}.lock", launch.name.as_str())))
            .map_err(system("cannot make the lock of an import"))?;
        notice();
        lock.lock().map_err(system("cannot lock an import"))?;
        // Somebody else may have done it meanwhile.
        let is_there = if anew { self.tool.image_exists(&launch.image)? } else { is_noted(&note, &state) };
        if is_there {
            return Ok(());
        }
        let _ = fs::remove_file(&note);
        self.load(launch, archive)?;
        atomic::write(&note, state.as_bytes(), 0o600).map_err(system("cannot note an import"))
    }

    fn load(&self, launch: &Launch, archive: &Path) -> Result<(), EngineError> {
        let before = self.tool.image_inspect(&launch.image).ok();
        self.tool.load_quietly(archive).map_err(|error| match error {
            ToolError::Failed { status, ref reason, .. } => self.explain_import(launch, status, reason),
            other => other.into(),
        })?;
        let after = self.tool.image_inspect(&launch.image)?;
        // The one it replaces has lost its name and would only take up space.
        if let Some(before) = before.filter(|before| before.id != after.id) {
            let is_unnamed = |id: &str| {
                self.tool
                    .image_inspect(id)
                    .is_ok_and(|image| image.repo_tags.is_none_or(|tags| tags.is_empty()))
            };
            if is_unnamed(&before.id) {
                let _ = self.tool.remove_image(&before.id);
            }
        }
        Ok(())
    }

    fn explain_import(&self, launch: &Launch, status: std::process::ExitStatus, reason: &str) -> EngineError {
        use crate::start::Engine;
        self.explain(launch, status, reason.as_bytes())
    }
}

fn is_noted(note: &Path, state: &str) -> bool {
    fs::read_to_string(note).is_ok_and(|noted| noted == state)
}

fn unreadable(archive: &Path, error: &io::Error) -> EngineError {
    EngineError::Failed { said: format!("cannot read the image archive {}: {error}", archive.display()) }
}
