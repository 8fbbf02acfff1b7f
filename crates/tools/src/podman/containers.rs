//! Containers in podman's store.

use super::Podman;
use super::images::SCRATCH_LABEL;
use crate::run::{ToolError, capture};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// One row of `podman ps`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Container {
    /// The container's id.
    pub id: String,
    /// The image it was made from, as it was named then.
    #[serde(default)]
    pub image: String,
    /// Its state in podman's words.
    #[serde(default)]
    pub state: String,
    /// Its names.
    #[serde(default)]
    pub names: Option<Vec<String>>,
    /// When it was made, in seconds since 1970; zero where podman does not say.
    #[serde(default)]
    pub created: i64,
    /// Its labels.
    #[serde(default)]
    pub labels: Option<BTreeMap<String, String>>,
}

/// What of a container's state matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerState {
    /// Its process runs.
    Running,
    /// It can be started.
    Stopped,
    /// Podman says something else.
    Unknown,
}

impl Container {
    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.as_ref()?.get(name).map(String::as_str)
    }

    /// Whether it has a name.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.names.iter().flatten().any(|own| own == name)
    }

    /// When it was made, as far as podman says.
    #[must_use]
    pub fn created(&self) -> Option<SystemTime> {
        let seconds = u64::try_from(self.created).ok().filter(|seconds| *seconds > 0)?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> ContainerState {
        match self.state.as_str() {
            "running" | "paused" => ContainerState::Running,
            "created" | "configured" | "exited" | "stopped" | "initialized" => ContainerState::Stopped,
            _ => ContainerState::Unknown,
        }
    }
}

impl Podman {
    /// All containers that have a label, running or not.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn containers_with_label(&self, label: &str) -> Result<Vec<Container>, ToolError> {
        self.containers(&format!("label={label}"))
    }

    /// All containers made of an image, running or not, but for those that only a file is copied from.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn containers_of_image(&self, image: &str) -> Result<Vec<Container>, ToolError> {
        let mut containers = self.containers(&format!("ancestor={image}"))?;
        containers.retain(|container| container.label(SCRATCH_LABEL).is_none());
        Ok(containers)
    }

    fn containers(&self, filter: &str) -> Result<Vec<Container>, ToolError> {
        let output = capture(&mut self.command([
            "ps",
            "--all",
            "--no-trunc",
            "--format",
            "json",
            "--filter",
            filter,
        ]))?;
        let rows: Option<Vec<Container>> =
            serde_json::from_slice(&output).map_err(|error| self.unexpected("ps", &error))?;
        Ok(rows.unwrap_or_default())
    }
}
