//! 89luca89/distrobox 482: an exported command does nothing sensible inside another container.
//!
//! It works there, or it fails with the launcher's status and one line.

use anyhow::{Result, ensure};
use flake_testkit::{Image, ROOT};
use std::fs;
use std::os::unix::fs::symlink;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let root = ground.path();
    for dir in ["dev", "etc", "proc", "run", "sys", "tmp", "usr", "var/lib"] {
        fs::create_dir_all(root.join(dir))?;
    }
    for link in ["bin", "lib", "lib64", "sbin"] {
        symlink(format!("usr/{link}"), root.join(link))?;
    }
    let app = ground.host.register(&ROOT, ("inside-482", &Image::BOX, "/bin/busybox"), &[])?;
    let (root, app) = (root.to_string_lossy(), app.to_string_lossy());
    let run =
        ["run", "--rm", "--network=none", "-v", "/usr:/usr:ro", "-v", "/etc:/etc:ro", "--rootfs", &root];
    let outcome = ground.host.podman(&ROOT, run.into_iter().chain([&*app, "echo", "word"])).run()?;
    let refused = outcome.code == Some(125) && outcome.err().lines().count() == 1;
    ensure!(refused || outcome.out() == "word\n" && outcome.success(), "{outcome}");
    Ok(())
}
