//! A container that outlives its calls: how it is, stopping it, removing it.

use super::Podman;
use crate::run::{ToolError, capture};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What `podman container inspect` says of a kept container.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Kept {
    /// Its id.
    pub id: String,
    /// How it is.
    pub state: KeptState,
    /// What it was made with.
    pub config: KeptConfig,
}

/// How a kept container is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct KeptState {
    /// Whether its first process is there.
    #[serde(default)]
    pub running: bool,
    /// It was never started.
    #[serde(default)]
    pub status: String,
    /// How its first process ended last time.
    #[serde(default)]
    pub exit_code: i32,
    /// Its first process, on the host; zero when there is none.
    #[serde(default)]
    pub pid: u32,
}

/// What a kept container was made with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct KeptConfig {
    /// Its labels.
    #[serde(default)]
    pub labels: Option<BTreeMap<String, String>>,
    /// Where its first process starts.
    #[serde(default)]
    pub working_dir: String,
}

impl KeptState {
    /// Whether its first process is there indeed: podman says that it runs until it hears of its end.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.pid != 0 && Path::new("/proc").join(self.pid.to_string()).exists()
    }
}

impl Kept {
    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.config.labels.as_ref()?.get(name).map(String::as_str)
    }
}

impl Podman {
    /// A container by its name or id; none where there is no such.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn kept(&self, name: &str) -> Result<Option<Kept>, ToolError> {
        let output = match capture(&mut self.command(["container", "inspect", "--", name])) {
            Err(error) if is_missing(&error) => return Ok(None),
            output => output?,
        };
        let found: Vec<Kept> =
            serde_json::from_slice(&output).map_err(|error| self.unexpected("container inspect", &error))?;
        Ok(found.into_iter().next())
    }

    /// Ends a container: asked first, then killed after `grace` seconds. One that does not run stays as it is.
    ///
    /// # Errors
    /// Podman's own failure; a container that is gone is none.
    pub fn stop(&self, name: &str, grace: u32) -> Result<(), ToolError> {
        let grace = format!("--time={grace}");
        passing_over_missing(capture(&mut self.command(["stop", &grace, "--", name])))?;
        self.note_end(name)
    }

    /// Removes a container, running or not, with its anonymous volumes and all that is in it.
    ///
    /// # Errors
    /// Podman's own failure; a container that is gone is none.
    pub fn remove_container(&self, name: &str) -> Result<(), ToolError> {
        // One step after the other: of a container whose end podman has not heard of it leaves the runtime's notes.
        self.stop(name, 0)?;
        passing_over_missing(capture(&mut self.command([
            "rm",
            "--force",
            "--time=0",
            "--volumes",
            "--",
            name,
        ])))
    }

    /// The last line of a container's log; empty where there is none.
    #[must_use]
    pub fn last_words(&self, name: &str) -> String {
        // The log is podman's standard error where the container wrote to its own.
        let output = self.command(["logs", "--tail=1", "--", name]).output();
        let said = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
        let text = String::from_utf8_lossy(&said);
        text.lines().last().unwrap_or_default().chars().filter(|sign| !sign.is_control()).collect()
    }
}

fn passing_over_missing(result: Result<Vec<u8>, ToolError>) -> Result<(), ToolError> {
    match result {
        Err(error) if is_missing(&error) => Ok(()),
        result => result.map(drop),
    }
}

fn is_missing(error: &ToolError) -> bool {
    let said = error.said();
    said.contains("no such container") || said.contains("no container with name or ID")
}
