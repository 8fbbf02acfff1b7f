//! 89luca89/distrobox 966: closing the terminal leaves the process running.

use anyhow::Result;
use flake_testkit::processes;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let mark = ground.host.mark();
    let terminal = ground.app.terminal(&format!(r#""$APP" sh -c 'echo ready; exec sleep {mark}'"#))?;
    terminal.expect("ready")?;
    terminal.hang_up()?;
    Ok(processes::until_gone(&mark)?)
}
