//! podman-container-tools/podman 20003: a hang-up does not reach a process in the container that has
//! children.

use anyhow::{Result, ensure};
use flake_testkit::processes;
use nix::sys::signal::Signal;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let mark = ground.host.mark();
    let app = ground.app.talk(&format!("sleep {mark} & echo ready; wait"))?;
    app.expect("ready\n")?;
    app.signal(Signal::SIGHUP);
    let outcome = app.end()?;
    ensure!(outcome.signal == Some(Signal::SIGHUP as i32), "{outcome}");
    Ok(processes::until_gone(&mark)?)
}
