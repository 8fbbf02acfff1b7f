//! Images in podman's store.

use super::{GraphDriver, Podman};
use crate::run::{ToolError, capture, show};
use flake_sys::interrupt;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

/// What podman 4.3 says when it looks for an image's parent among those with the same layers, and somebody is just
/// writing one of them.
const HALF_WRITTEN: &str = "locating item named \"manifest\"";
/// How often that is waited for, a moment each.
const TRIES: usize = 20;

/// What `podman image inspect` says of an image.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Image {
    /// The image's id, without a prefix.
    pub id: String,
    /// Its names in the store.
    #[serde(default)]
    pub repo_tags: Option<Vec<String>>,
    /// The digest of the manifest it was fetched with.
    #[serde(default)]
    pub digest: String,
    /// Names with the digests that registries have it by.
    #[serde(default)]
    pub repo_digests: Option<Vec<String>>,
    /// What it is made to run.
    #[serde(default)]
    pub config: Option<Config>,
    /// Where its layers are.
    #[serde(default)]
    pub graph_driver: GraphDriver,
}

/// The part of an image's configuration that is of interest here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Config {
    /// The words before the command.
    #[serde(default)]
    pub entrypoint: Option<Vec<String>>,
    /// The words that a call replaces.
    #[serde(default)]
    pub cmd: Option<Vec<String>>,
    /// `USER` of the image.
    #[serde(default)]
    pub user: String,
    /// Variables, `NAME=VALUE`.
    #[serde(default)]
    pub env: Option<Vec<String>>,
}

impl Image {
    /// Whether a call without a target has something to run.
    #[must_use]
    pub fn has_command(&self) -> bool {
        let config = self.config.as_ref();
        let words = config.into_iter().flat_map(|config| [&config.entrypoint, &config.cmd]);
        words.flatten().any(|words| !words.is_empty())
    }

    /// The digests of its manifests, `sha256:...`, without repetition. An image for several machines has that of the
    /// list as well.
    #[must_use]
    pub fn digests(&self) -> Vec<String> {
        let named = self.repo_digests.iter().flatten().filter_map(|name| Some(name.split_once('@')?.1));
        let mut digests: Vec<String> = Vec::new();
        for digest in std::iter::once(self.digest.as_str()).chain(named).filter(|digest| !digest.is_empty()) {
            if !digests.iter().any(|known| known == digest) {
                digests.push(digest.to_owned());
            }
        }
        digests
    }
}

/// A file read out of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageFile {
    /// Its content.
    Content(Vec<u8>),
    /// There is none of that name.
    Missing,
    /// It is larger than the bound.
    TooLarge,
    /// It is a link, a folder or something else that is not a plain file.
    NotAFile,
}

/// Marks a container of which only something is read.
pub const SCRATCH_LABEL: &str = "flake.scratch";

impl Podman {
    /// Whether the store has an image.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn image_exists(&self, image: &str) -> Result<bool, ToolError> {
        match capture(&mut self.command(["image", "exists", "--", image])) {
            Ok(_) => Ok(true),
            Err(ToolError::Failed { status, .. }) if status.code() == Some(1) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What podman knows of an image in the store.
    ///
    /// # Errors
    /// Podman's own failure, also that there is no such image.
    pub fn image_inspect(&self, image: &str) -> Result<Image, ToolError> {
        let mut tries = 0;
        let output = loop {
            match capture(&mut self.command(["image", "inspect", "--", image])) {
                Err(ToolError::Failed { reason, .. }) if tries < TRIES && reason.contains(HALF_WRITTEN) => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(100));
                }
                output => break output?,
            }
        };
        let images: Vec<Image> =
            serde_json::from_slice(&output).map_err(|error| self.unexpected("image inspect", &error))?;
        images.into_iter().next().ok_or_else(|| self.unexpected("image inspect", &"no image"))
    }

    /// Gives an image one more name.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn tag(&self, image: &str, name: &str) -> Result<(), ToolError> {
        capture(&mut self.command(["tag", image, name])).map(drop)
    }

    /// Takes a name from an image; the image stays.
    ///
    /// # Errors
    /// Podman's own failure, also that there is no such name.
    pub fn untag(&self, name: &str) -> Result<(), ToolError> {
        capture(&mut self.command(["untag", name, name])).map(drop)
    }

    /// Removes an image from the store, all of its names with it.
    ///
    /// # Errors
    /// Podman's own failure, also that a container uses it.
    pub fn remove_image(&self, image: &str) -> Result<(), ToolError> {
        capture(&mut self.command(["rmi", "--force", "--", image])).map(drop)
    }

    /// Removes an image that has one name at most and of which no container is made.
    ///
    /// # Errors
    /// Podman's own failure, also that it is used.
    pub fn remove_unused_image(&self, image: &str) -> Result<(), ToolError> {
        capture(&mut self.command(["rmi", "--", image])).map(drop)
    }

    /// Writes an image as an OCI archive over `file`. The folder `scratch` takes what podman keeps meanwhile,
    /// as much as the image has; podman does not clear it away when it is stopped.
    ///
    /// # Errors
    /// Podman's own failure, also that the disk is full.
    pub fn save(&self, image: &str, file: &Path, scratch: &Path) -> Result<(), ToolError> {
        let mut command = self.command(["save", "--quiet", "--format", "oci-archive", "--output"]);
        capture(command.arg(file).arg("--").arg(image).env("TMPDIR", scratch)).map(drop)
    }

    /// Loads an OCI archive into the store, silently, under the name that is in it.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn load_quietly(&self, file: &Path) -> Result<(), ToolError> {
        // Of a `load` that fails podman tells what every format says to the file, of this only why. A colon
        // would end the path.
        if file.as_os_str().as_encoded_bytes().contains(&b':') {
            return capture(self.command(["load", "--quiet", "--input"]).arg(file)).map(drop);
        }
        let mut source = OsString::from("oci-archive:");
        source.push(file);
        capture(self.command(["pull", "--quiet"]).arg(source)).map(drop)
    }

    /// Loads an archive into the store.
    ///
    /// # Streams
    /// Podman's progress goes to this process' own output and error.
    ///
    /// # Errors
    /// Podman could not be run; its status is returned as it is.
    pub fn load(&self, file: &Path) -> Result<ExitStatus, ToolError> {
        show(self.command(["load", "--input"]).arg(file))
    }

    /// Pulls an image into the store.
    ///
    /// # Streams
    /// Podman's progress goes to this process' own output and error.
    ///
    /// # Errors
    /// Podman could not be run; its status is returned as it is.
    pub fn pull(&self, uri: &OsStr) -> Result<ExitStatus, ToolError> {
        show(self.command(["pull", "--"]).arg(uri))
    }

    /// Fetches what a registry has under a reference now, silently.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn fetch(&self, reference: &str) -> Result<(), ToolError> {
        capture(&mut self.command(["pull", "--quiet", "--", reference])).map(drop)
    }

    /// Reads a file in the root of an image, at most `most` bytes of it. Nothing of the image runs: the file is looked
    /// for in the layers, or where they do not tell, a container is made, never started, and removed.
    ///
    /// # Errors
    /// Podman's own failure.
    pub fn read_image_file(&self, image: &str, name: &str, most: u64) -> Result<ImageFile, ToolError> {
        match self.image_inspect(image)?.graph_driver.read(name, most) {
            Some(file) => Ok(file),
            None => self.copy_image_file(image, name, most),
        }
    }

    fn copy_image_file(&self, image: &str, name: &str, most: u64) -> Result<ImageFile, ToolError> {
        let container = Scratch { podman: self, name: format!("flake-read-{}", std::process::id()) };
        let mut create = self.command(["create", "--pull=never", "--net=none", "--label", SCRATCH_LABEL]);
        capture(create.args(["--name", &container.name, "--", image, "/"]))?;
        let path = format!("{}:/{name}", container.name);
        let mut copy = self.command(["cp", &path, "-"]);
        copy.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let program = || self.program.path().display().to_string();
        let failed = |source| ToolError::Start { program: program(), source };
        let mut child = copy.spawn().map_err(failed)?;
        let content = child.stdout.take().map(|stream| read_entry(stream, most));
        // The rest of a large file is not waited for.
        let _ = child.kill();
        child.wait().map_err(failed)?;
        content
            .transpose()
            .map_err(|error| self.unexpected("cp", &error))?
            .ok_or_else(|| self.unexpected("cp", &"no output"))
    }
}

/// A container that is removed with the value, also when its making was stopped half-way: its name is known before.
struct Scratch<'a> {
    podman: &'a Podman,
    name: String,
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let mut remove = self.podman.command(["rm", "--force", "--ignore", "--", &self.name]);
        let _ = interrupt::held(|| capture(&mut remove));
    }
}

/// The first entry of a tar stream.
fn read_entry(stream: impl Read, most: u64) -> std::io::Result<ImageFile> {
    let mut archive = tar::Archive::new(stream);
    let Some(entry) = archive.entries()?.next() else { return Ok(ImageFile::Missing) };
    let entry = match entry {
        Ok(entry) => entry,
        // Podman writes nothing when there is no such file.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(ImageFile::Missing),
        Err(error) => return Err(error),
    };
    if !entry.header().entry_type().is_file() {
        return Ok(ImageFile::NotAFile);
    }
    if entry.size() > most {
        return Ok(ImageFile::TooLarge);
    }
    let mut content = Vec::new();
    entry.take(most).read_to_end(&mut content)?;
    Ok(ImageFile::Content(content))
}
