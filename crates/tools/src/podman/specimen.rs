//! A container that is made only to see what podman makes of its options: it is initialised, read, and removed.

use super::images::SCRATCH_LABEL;
use super::{GraphDriver, Podman};
use crate::run::{ToolError, capture};
use flake_sys::interrupt;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Marks one such container, so that it is found when its making was stopped half-way.
const MARK: &str = "flake.specimen";
/// How old a scratch container is that nobody works with any more, in podman's words.
const LEFT_BEHIND: &str = "until=10m";

/// An initialised container. It is removed with the value, its anonymous volumes too.
#[derive(Debug)]
pub struct Specimen<'a> {
    podman: &'a Podman,
    mark: String,
    id: Option<String>,
}

/// What `podman inspect` says of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Inspection {
    /// Its id.
    pub id: String,
    /// The id of its image.
    #[serde(default)]
    pub image: String,
    /// Its state.
    #[serde(default)]
    pub state: State,
    /// The file of its OCI runtime specification.
    #[serde(rename = "OCIConfigPath", default)]
    pub specification: PathBuf,
    /// Where its layers are.
    #[serde(default)]
    pub graph_driver: GraphDriver,
    /// Its volumes and binds.
    #[serde(default)]
    pub mounts: Option<Vec<Volume>>,
    /// What it was made with.
    #[serde(default)]
    pub host_config: HostConfig,
}

/// The state of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct State {
    /// Its first process, on the host; zero when there is none.
    #[serde(default)]
    pub pid: u32,
}

/// A volume or bind of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Volume {
    /// The volume's name; a bind has none.
    #[serde(default)]
    pub name: String,
    /// Where it is on the host.
    #[serde(default)]
    pub source: PathBuf,
    /// Where it is inside.
    #[serde(default)]
    pub destination: PathBuf,
}

/// What a container was made with, as far as the specification does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct HostConfig {
    /// The size of `/dev/shm` in bytes.
    #[serde(default)]
    pub shm_size: u64,
    /// Its network, as the option says it: `host`, `none`, `bridge`.
    #[serde(default)]
    pub network_mode: String,
    /// The capabilities beyond podman's default, such as `CAP_NET_RAW`.
    #[serde(default)]
    pub cap_add: Option<Vec<String>>,
    /// It has all the rights that podman can give.
    #[serde(default)]
    pub privileged: bool,
}

impl Podman {
    /// Makes a container with the words of `create` and those after it, and has it initialised: its processes wait
    /// for the start. An init is put before the command, since the runtime looks for the program before it starts
    /// anything and a mere mark is none; it is podman itself, which certainly exists, and never runs.
    ///
    /// # Errors
    /// Podman's own failure; no container is left.
    pub fn specimen(&self, words: &[OsString]) -> Result<Specimen<'_>, ToolError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mark = format!("{MARK}={}-{}", std::process::id(), since.as_nanos());
        let mut specimen = Specimen { podman: self, mark, id: None };
        let (verb, rest) =
            words.split_first().map_or((OsStr::new("create"), words), |(verb, rest)| (verb, rest));
        let mut init_path = OsString::from("--init-path=");
        init_path.push(self.program.path());
        let mut create = self.command([verb]);
        create.args(["--init", "--label", &specimen.mark]).arg(init_path).args(rest);
        let output = capture(&mut create)?;
        let id = String::from_utf8_lossy(&output).lines().last().unwrap_or_default().trim().to_owned();
        if id.is_empty() {
            return Err(self.unexpected("create", &"no id"));
        }
        capture(&mut self.command(["init", "--", &id]))?;
        specimen.id = Some(id);
        Ok(specimen)
    }

    /// Removes scratch containers that killed processes left behind: those whose maker is gone, and old ones.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn remove_left_specimens(&self) -> Result<(), ToolError> {
        let label = format!("label={SCRATCH_LABEL}");
        let mut left = self.ids(&["--filter", &label, "--filter", LEFT_BEHIND])?;
        let specimens = self.containers_with_label(MARK)?;
        let orphans = specimens.into_iter().filter(|container| container.label(MARK).is_some_and(is_orphans));
        left.extend(orphans.map(|container| container.id));
        self.remove_all(&left)
    }

    fn ids(&self, filters: &[&str]) -> Result<Vec<String>, ToolError> {
        let output = capture(self.command(["ps", "--all", "--no-trunc", "--quiet"]).args(filters))?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
    }

    fn remove_all(&self, ids: &[String]) -> Result<(), ToolError> {
        if ids.is_empty() {
            return Ok(());
        }
        capture(self.command(["rm", "--force", "--volumes", "--ignore", "--"]).args(ids)).map(drop)
    }
}

/// Whether a mark names a maker that is gone.
fn is_orphans(mark: &str) -> bool {
    let maker = mark.split('-').next().and_then(|pid| pid.parse::<u32>().ok());
    maker.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
}

impl Specimen<'_> {
    /// What podman knows of it.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn inspect(&self) -> Result<Inspection, ToolError> {
        let id = self.id.as_deref().unwrap_or_default();
        let output = capture(&mut self.podman.command(["container", "inspect", "--", id]))?;
        let found: Vec<Inspection> = serde_json::from_slice(&output)
            .map_err(|error| self.podman.unexpected("container inspect", &error))?;
        found.into_iter().next().ok_or_else(|| self.podman.unexpected("container inspect", &"no container"))
    }
}

impl Drop for Specimen<'_> {
    fn drop(&mut self) {
        let _ = interrupt::held(|| {
            let ids = match self.id.take() {
                Some(id) => vec![id],
                None => self.podman.ids(&["--filter", &format!("label={}", self.mark)])?,
            };
            self.podman.remove_all(&ids)
        });
    }
}
