//! 89luca89/distrobox 1405: exporting fails when the directory of programs does not exist.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};
use std::ffi::OsStr;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let dir = ADA.home().join("new-1405/bin");
    ensure!(!dir.exists());
    let image = ground.host.image(&ADA, &Image::BOX)?;
    let app = dir.join("app-1405");
    let fixed = ["podman", "register", "--container", &image, "--target", "/bin/busybox", "--app"];
    ground.host.flake_ctl(&ADA, fixed.map(OsStr::new).into_iter().chain([app.as_os_str()])).check()?;
    let mut command = ADA.command(&app);
    command.args(["echo", "word"]);
    let outcome = Call::new(command).check()?;
    ensure!(outcome.out() == "word\n", "{outcome}");
    Ok(())
}
