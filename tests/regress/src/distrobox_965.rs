//! 89luca89/distrobox 965: carriage returns get into pipes, errors into the output.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.app.call(&["echo", "foo"]).run()?;
    ensure!(outcome.stdout == b"foo\n", "{outcome}");
    let outcome = ground.app.call(&["sh", "-c", "echo e >&2"]).run()?;
    ensure!(outcome.stdout.is_empty() && outcome.stderr == b"e\n", "{outcome}");
    let ended = ground.app.terminal(r#""$APP" echo foo | od -An -c"#)?.end()?;
    ensure!(ended.seen == r"   f   o   o  \\n\r\n", "{ended:?}");
    Ok(())
}
