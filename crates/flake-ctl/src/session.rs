//! Who calls and what that means: whose registrations, which image store.

use crate::failure::Failure;
use crate::podman_store::PodmanStore;
use flake_core::caller::Caller;
use flake_core::place::Places;

/// What most verbs work with.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) caller: Caller,
    pub(crate) places: Places,
    pub(crate) store: PodmanStore,
}

impl Session {
    pub(crate) fn open() -> Result<Self, Failure> {
        let caller = Caller::current()?;
        let places = Places::of(&caller)?;
        let store = PodmanStore::new(places.settings.podman_storage_conf.clone());
        Ok(Self { caller, places, store })
    }
}
