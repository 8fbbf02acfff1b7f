//! `skopeo`, from version 1.9 on: what a registry has, without fetching it.
//!
//! It reads podman's configuration of registries and its credentials.

use crate::program::Program;
use crate::run::{ToolError, capture};

/// An installed skopeo.
#[derive(Debug, Clone)]
pub struct Skopeo {
    program: Program,
}

impl Skopeo {
    /// Looks for skopeo in `PATH`.
    ///
    /// # Errors
    /// [`ToolError::Missing`].
    pub fn find() -> Result<Self, ToolError> {
        Ok(Self { program: Program::find("skopeo", "apt-get install skopeo")? })
    }

    /// The digest of the manifest that a registry has under a reference, `sha256:...`; of an image for several
    /// machines that of the list.
    ///
    /// # Errors
    /// Skopeo's own failure, also that the registry cannot be reached or does not have it.
    pub fn digest(&self, reference: &str) -> Result<String, ToolError> {
        let image = format!("docker://{reference}");
        let words = ["inspect", "--no-tags", "--format", "{{.Digest}}", "--", &image];
        let output = capture(&mut self.program.command(words))?;
        let digest = String::from_utf8_lossy(&output).trim().to_owned();
        let is_digest = digest.split_once(':').is_some_and(|(algorithm, sum)| {
            !algorithm.is_empty() && !sum.is_empty() && sum.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        if is_digest {
            return Ok(digest);
        }
        Err(ToolError::Unexpected {
            program: self.program.name().to_owned(),
            verb: "inspect".to_owned(),
            reason: "no digest".to_owned(),
        })
    }
}
