//! 89luca89/distrobox 781: standard input from a file is echoed twice, then the command hangs.

use anyhow::{Result, ensure};
use std::fs::{self, File};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let path = ground.path();
    fs::write(&path, "one\ntwo\n")?;
    let outcome = ground.app.call(&["cat"]).stdin(File::open(&path)?).run()?;
    ensure!(outcome.stdout == b"one\ntwo\n" && outcome.success(), "{outcome}");
    let ended = ground.app.terminal(&format!(r#""$APP" cat <{}"#, path.display()))?.end()?;
    ensure!(ended.seen == r"one\r\ntwo\r\n", "{ended:?}");
    Ok(())
}
