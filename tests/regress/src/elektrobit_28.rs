//! Elektrobit/flake-pilot 28: of two options of the same name one is lost.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};
use std::fs;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let dir = ground.directory()?;
    for name in ["a", "b"] {
        fs::create_dir(dir.join(name))?;
        fs::write(dir.join(name).join("file"), format!("{name}\n"))?;
    }
    let volume = |name: &str| format!(r"\--volume {}:/{name}", dir.join(name).display());
    let (a, b) = (volume("a"), volume("b"));
    let app =
        ground.host.register(&ADA, ("twice-28", &Image::BOX, "/bin/busybox"), &["--opt", &a, "--opt", &b])?;
    let mut command = ADA.command(&app);
    command.args(["cat", "/a/file", "/b/file"]);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.out() == "a\nb\n", "{outcome}");
    Ok(())
}
