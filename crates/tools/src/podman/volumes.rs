//! Volumes in podman's store.

use super::Podman;
use crate::run::{ToolError, capture};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What `podman volume inspect` says of a volume.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inspected {
    #[serde(default)]
    driver: String,
    #[serde(default)]
    options: Option<BTreeMap<String, String>>,
}

impl Podman {
    /// Whether a volume is a folder of the store and nothing else: others podman mounts while a container uses
    /// them.
    ///
    /// # Errors
    /// Podman's own failure, also that there is no such volume.
    pub fn is_plain_volume(&self, name: &str) -> Result<bool, ToolError> {
        let output = capture(&mut self.command(["volume", "inspect", "--", name]))?;
        let volumes: Vec<Inspected> =
            serde_json::from_slice(&output).map_err(|error| self.unexpected("volume inspect", &error))?;
        let volume =
            volumes.into_iter().next().ok_or_else(|| self.unexpected("volume inspect", &"no volume"))?;
        let is_local = volume.driver.is_empty() || volume.driver == "local";
        Ok(is_local && volume.options.is_none_or(|options| options.is_empty()))
    }
}
