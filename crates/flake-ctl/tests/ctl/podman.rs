//! Hosts on which podman is absent, old or broken.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Result;
use flake_testkit::{ADA, Call, Image, ScratchHost};

use crate::Case;
use crate::told::{BOX, absent, refused, silent};

pub(crate) const CASES: &[Case] = &[
    ("podman_is_absent", missing),
    ("podman_is_not_what_it_should_be", odd),
    ("nothing_can_be_written", read_only),
];

/// `flake-ctl podman register` with other programs on PATH.
fn register(path: &str) -> Call {
    let mut command = ADA.command("/usr/bin/flake-ctl");
    command.args(BOX).args(["--app", "/home/ada/pod-h"]).env("PATH", path);
    Call::new(command)
}

fn missing(_: &ScratchHost) -> Result<()> {
    refused(register("/nowhere"), "flake-ctl: podman is not installed; try: apt-get install podman\n")?;
    absent("/home/ada/.config/flakes/pod-h.yaml")
}

fn odd(_: &ScratchHost) -> Result<()> {
    let folder = Path::new("/tmp/odd-h");
    fs::create_dir(folder)?;
    for (script, said) in [
        ("echo 3.4.7", "podman 3.4.7 is too old, 4.3 is needed"),
        ("echo Error: no such thing >&2; exit 3", "podman version failed: no such thing"),
        ("kill -9 $$", "podman version failed: killed by signal 9"),
        ("exit 1", "podman version failed: exit status 1"),
        (
            "test $1 = version && echo 4.3.1 || echo '[{]'",
            "podman image inspect gave an unexpected answer: key must \
          be a string at line 1 column 3",
        ),
    ] {
        fs::write(folder.join("podman"), format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(folder.join("podman"), Permissions::from_mode(0o755))?;
        refused(register("/tmp/odd-h:/bin"), &format!("flake-ctl: {said}\n"))?;
        absent("/home/ada/pod-h")?;
    }
    Ok(())
}

/// Podman's store is elsewhere, so only the registration cannot be made.
fn read_only(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    fs::create_dir("/tmp/closed-h")?;
    let mut command = ADA.command("/usr/bin/flake-ctl");
    command.args(BOX).args(["--app", "/home/ada/pod-h"]);
    command.env("HOME", "/tmp/closed-h").env("XDG_DATA_HOME", "/home/ada/.local/share");
    command.env("XDG_CONFIG_HOME", "/home/ada/.config");
    refused(
        Call::new(command),
        "flake-ctl: cannot make /tmp/closed-h/.config: permission denied\n\
         hint: a normal user registers below the own home, or: sudo flake-ctl podman register --app /home/ada/pod-h ...\n",
    )?;
    absent("/home/ada/pod-h")?;
    // Without a home at all the passwd entry says where it is.
    let mut command = ADA.command("/usr/bin/flake-ctl");
    command.args(["list", "--user", "--format", "csv"]).env("HOME", "relative").current_dir("/");
    Call::new(command).check()?;
    silent(host.flake_ctl(&ADA, ["list", "--user", "--format", "csv"])).or(Ok(()))
}
