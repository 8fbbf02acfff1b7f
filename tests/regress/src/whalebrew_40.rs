//! whalebrew/whalebrew 40: files that the app makes belong to root.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ADA, ("owner-40", &Image::BOX, "/bin/busybox"), &["--share", "cwd"])?;
    let dir = ground.directory()?;
    let mut command = ADA.command(&app);
    command.args(["touch", "f"]).current_dir(&dir);
    Call::new(command).check()?;
    let made = fs::metadata(dir.join("f"))?;
    ensure!((made.uid(), made.gid()) == (ADA.id, ADA.id), "{made:?}");
    Ok(())
}
