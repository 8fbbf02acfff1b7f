//! 89luca89/distrobox 1525: there is no container, but the wrapper reports success.
//!
//! At registration and, when the image went away later, at the call.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};
use std::ffi::OsStr;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let bin = ADA.home().join("bin");
    let app = bin.join("absent-1525");
    let words =
        ["podman", "register", "--container", "localhost/absent-1525", "--target", "/bin/true", "--app"];
    let line = words.map(OsStr::new).into_iter().chain([app.as_os_str()]);
    let outcome = ground.host.flake_ctl(&ADA, line).run()?;
    ensure!(!outcome.success() && outcome.err().contains("localhost/absent-1525"), "{outcome}");
    ensure!(outcome.err().contains("pull"), "no word about how to get it: {outcome}");
    ensure!(app.symlink_metadata().is_err(), "the link was made");

    let image = Image { name: "gone-1525", ..Image::BOX };
    let app = ground.host.register(&ADA, ("gone-1525", &image, "/bin/busybox"), &[])?;
    let id = ground.host.podman(&ADA, ["images", "--quiet", "--no-trunc", "localhost/gone-1525"]).check()?;
    // With all of its names.
    ground.host.podman(&ADA, ["rmi", "--force", id.out().trim()]).run()?;
    let mut command = ADA.command(&app);
    command.args(["echo", "word"]);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.code == Some(125) && outcome.out().is_empty(), "{outcome}");
    ensure!(outcome.err().contains("gone-1525"), "{outcome}");
    Ok(())
}
