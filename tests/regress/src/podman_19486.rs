//! podman-container-tools/podman 19486: an interrupt ends the client and not the process in the container.

use anyhow::{Result, ensure};
use flake_testkit::processes;
use nix::sys::signal::Signal;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let mark = ground.host.mark();
    let app = ground.app.talk(&format!("echo ready; exec sleep {mark}"))?;
    app.expect("ready\n")?;
    app.signal(Signal::SIGINT);
    let outcome = app.end()?;
    ensure!(outcome.signal == Some(Signal::SIGINT as i32), "{outcome}");
    Ok(processes::until_gone(&mark)?)
}
