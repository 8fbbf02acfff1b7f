//! What the first process of a container has written.

use super::Podman;
use crate::run::{ToolError, show};
use std::process::ExitStatus;

impl Podman {
    /// Shows a container's log: the last `tail` lines or all, and with `follow` what comes until the container ends.
    ///
    /// # Streams
    /// What the container wrote to its output and error goes to this process' own.
    ///
    /// # Errors
    /// Podman could not be run; its status is returned as it is.
    pub fn logs(&self, container: &str, tail: Option<u32>, follow: bool) -> Result<ExitStatus, ToolError> {
        let mut command = self.command(["logs"]);
        command.args(tail.map(|lines| format!("--tail={lines}"))).args(follow.then_some("--follow"));
        show(command.args(["--", container]))
    }
}
