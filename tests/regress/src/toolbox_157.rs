//! containers/toolbox 157: run does not work without a terminal.

use anyhow::{Result, ensure};
use flake_testkit::Call;
use std::process::Stdio;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let mut command = ground.app.user.command("/usr/bin/setsid");
    command.arg("--wait").arg(&ground.app.app).arg("true");
    let outcome = Call::new(command).stdin(Stdio::null()).run()?;
    ensure!(outcome.success() && outcome.stdout.is_empty() && outcome.stderr.is_empty(), "{outcome}");
    Ok(())
}
