//! 89luca89/distrobox 786: shells and their children pile up after windows are closed.

use anyhow::Result;
use flake_testkit::processes;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let marks: Vec<_> = (0..10).map(|_| ground.host.mark()).collect();
    for mark in &marks {
        let terminal = ground.app.terminal(&format!(r#""$APP" sh -c 'echo ready; sleep {mark}; true'"#))?;
        terminal.expect("ready")?;
        terminal.hang_up()?;
    }
    for mark in &marks {
        processes::until_gone(mark)?;
    }
    Ok(())
}
