//! podman-container-tools/podman 4808: a file with the id of a dead container keeps the next one from
//! starting.
//!
//! So state of every kind that a crash could leave is put where this and older launchers have theirs.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};
use std::fs;
use std::os::unix::fs::chown;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let (host, uid) = (ground.host, ADA.id);
    let app = host.register(&ADA, ("stale-4808", &Image::BOX, "/bin/busybox"), &[])?;
    let dirs = [
        format!("/tmp/flakes/{uid}"),
        format!("/tmp/flakes-{uid}"),
        format!("/run/user/{uid}/flakes"),
        format!("{}/.local/state/flakes", ADA.home().display()),
    ];
    for dir in &dirs {
        let mut make = ADA.command("/usr/bin/mkdir");
        make.args(["-p", "-m", "700", dir]);
        Call::new(make).check()?;
        for kind in ["cid", "pid", "sock", "lock"] {
            let path = format!("{dir}/stale-4808.{kind}");
            fs::write(&path, "deadbeef".repeat(8))?;
            chown(&path, Some(uid), Some(uid))?;
        }
    }
    let mut command = ADA.command(&app);
    command.args(["echo", "word"]);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.out() == "word\n" && outcome.success() && outcome.err().is_empty(), "{outcome}");
    Ok(())
}
