//! What of the host a call sees at its own place.

use crate::call::Bind;
use crate::error::{RunError, on};
use crate::filesystem;
use crate::mounts::{Ready, restricted};
use flake_plan::MountFlags;
use rustix::fs::CWD;
use std::path::Path;

/// Makes the mounts of a call, while its working directory is still the caller's.
pub(crate) fn make(binds: &[Bind]) -> Result<Vec<Ready>, RunError> {
    binds.iter().map(one).collect()
}

fn one(bind: &Bind) -> Result<Ready, RunError> {
    // Whatever is done to the name meanwhile: this process is there.
    let source = if bind.is_cwd { Path::new(".") } else { &bind.path };
    let copy = filesystem::copy(CWD, source, true).map_err(on("share", &bind.path))?;
    let flags =
        MountFlags { read_only: bind.read_only, no_suid: true, recursive: true, ..MountFlags::default() };
    restricted(copy, &bind.path, bind.path.clone(), flags)
}
