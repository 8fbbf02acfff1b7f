//! The newest image of a reference, asked for once however many commands have it.

use super::explain;
use super::row::Row;
use crate::failure::Failure;
use crate::report::say;
use crate::session::Session;
use flake_core::update::{Change, Outlook, UpdateError, to_newest};
use flake_schema::Loaded;
use flake_tools::skopeo::Skopeo;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};

/// What registries said so far.
#[derive(Debug)]
pub(super) struct Newest<'a> {
    session: &'a Session,
    /// Images that were fetched, or why not.
    fetched: BTreeMap<String, Result<(), String>>,
    /// Digests that were asked for, or why there is none.
    digests: BTreeMap<String, Result<String, String>>,
}

impl<'a> Newest<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self { session, fetched: BTreeMap::new(), digests: BTreeMap::new() }
    }

    /// Moves a flake to the newest image.
    pub(super) fn take(&mut self, loaded: &Loaded) -> Result<Change, Failure> {
        let Session { places, store, .. } = self.session;
        let outlook = Outlook::of(loaded, places, store).map_err(explain)?;
        let is_remote = outlook.comes_from_a_registry();
        let is_fetched = match self.fetched.get(&outlook.whole) {
            Some(Err(reason)) if is_remote => return Err(Failure::new(reason.clone())),
            known => known.is_some(),
        };
        if is_remote && !is_fetched && io::stderr().is_terminal() {
            say(&format!("fetching {}", outlook.whole));
        }
        let taken = to_newest(loaded, !is_fetched, places, store);
        match &taken {
            Ok(_) => drop(self.fetched.insert(outlook.whole, Ok(()))),
            Err(error @ UpdateError::Fetch { .. }) => {
                self.fetched.insert(outlook.whole, Err(error.to_string()));
            }
            Err(_) => {}
        }
        taken.map_err(explain)
    }

    /// What moving a flake would change. Nothing is.
    pub(super) fn look(&mut self, loaded: &Loaded) -> Result<Row, Failure> {
        let Session { places, store, .. } = self.session;
        let outlook = Outlook::of(loaded, places, store).map_err(explain)?;
        if outlook.comes_from_a_registry() {
            let digest = self.digests.entry(outlook.whole.clone()).or_insert_with(|| {
                let digest = Skopeo::find().and_then(|skopeo| skopeo.digest(&outlook.whole));
                digest.map_err(|error| error.to_string())
            });
            let digest = digest.as_ref().map_err(|reason| Failure::new(reason.clone()))?;
            return Ok(Row::with_digest(loaded, &outlook, digest));
        }
        let after = outlook.named.ok_or_else(|| explain(UpdateError::NoImage(outlook.whole.clone())))?;
        Ok(Row::of(loaded, &Change { before: outlook.current, after }))
    }
}
