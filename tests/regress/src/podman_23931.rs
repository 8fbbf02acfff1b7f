//! podman-container-tools/podman 23931: a script piped into an interactive shell never ends.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.app.call(&["sh"]).input("echo aha\n").run()?;
    ensure!(outcome.out() == "aha\n" && outcome.success(), "{outcome}");
    let ended = ground.app.terminal(r#"echo 'echo aha' | "$APP" sh; echo "status $?""#)?.end()?;
    ensure!(ended.seen == r"aha\r\nstatus 0\r\n", "{ended:?}");
    Ok(())
}
