//! podman-container-tools/podman 22495: killing the client leaves the process in the container.

use anyhow::{Result, ensure};
use flake_testkit::processes;
use nix::sys::signal::Signal;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let mark = ground.host.mark();
    let app = ground.app.talk(&format!("echo ready; exec sleep {mark}"))?;
    app.expect("ready\n")?;
    app.signal(Signal::SIGTERM);
    let outcome = app.end()?;
    ensure!(outcome.signal == Some(Signal::SIGTERM as i32), "{outcome}");
    Ok(processes::until_gone(&mark)?)
}
