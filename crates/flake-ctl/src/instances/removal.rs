//! Removing a kept instance, and what is noted about it.

use super::Kept;
use crate::failure::Failure;
use crate::session::Session;
use flake_sys::interrupt;

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
    let podman = session.store.podman()?;
    let _making = notes.lock(instance)?;
    // Nobody enters it any more, but for those who are in it.
    let closed = notes.close(instance);
    if closed.is_none() && !force {
        return Ok(Removal::InUse);
    }
    let made = notes.read(instance);
    // A container without a note would be found again, a note without a container not.
    interrupt::held(|| -> Result<(), Failure> {
        podman.remove_container(&instance.container_name())?;
        notes.forget(instance)?;
        if let Some(made) = made {
            made.remove_socket();
        }
        Ok(())
    })?;
    Ok(Removal::Gone)
}
