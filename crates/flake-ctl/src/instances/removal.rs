//! Removing a kept instance, and what is noted about it.

use super::Kept;
use crate::failure::Failure;
use crate::session::Session;
use flake_engine::podman;

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removal {
    /// It is gone.
    Gone,
    /// Something runs in it, and nothing was touched.
    InUse,
}

/// Removes an instance. With `force` also one in which something runs; that ends.
pub(crate) fn remove(kept: &Kept, session: &Session, force: bool) -> Result<Removal, Failure> {
    let Kept { instance, .. } = kept;
    let notes = kept.notes(session);
    let _making = notes.lock(instance)?;
    // Nobody enters it any more, but for those who are in it.
    let closed = notes.close(instance);
    if closed.is_none() && !force {
        return Ok(Removal::InUse);
    }
    podman::remove(session.store.podman()?, &notes, instance)?;
    Ok(Removal::Gone)
}
