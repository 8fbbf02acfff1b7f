//! What is left on the host.

use crate::Case;
use crate::maker::{PLAIN, Wish, command, plan, reason};
use anyhow::ensure;
use flake_testkit::{ADA, ROOT, ScratchHost, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::thread::sleep;
use std::time::Duration;

pub(crate) const ALONE: &[Case] = &[
    ("no container is left", nothing),
    ("nor after a failure", failure),
    ("nor after a signal at any moment", signal),
];

fn nothing(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        ensure!(host.containers(user)?.is_empty(), "{} has containers", user.name);
        // Those of the volumes that have a name stay.
        let volumes = host.podman(user, ["volume", "ls", "--quiet"]).check()?;
        ensure!(volumes.out().lines().all(|name| name == "named"), "{}: {}", user.name, volumes.out());
    }
    Ok(())
}

fn failure(host: &ScratchHost) -> anyhow::Result<()> {
    // Podman makes the container, the runtime does not start it.
    for user in [&ROOT, &ADA] {
        let options = &["--sysctl=kernel.msgmax=none"];
        let made = plan(host, user, Wish { options, ..PLAIN })?;
        ensure!(reason(&made)?.contains("podman init said"), "{}: {:?}", user.name, made.way);
        ensure!(made.basis.until.is_some(), "{}: for good", user.name);
    }
    nothing(host)
}

fn signal(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        for round in 0..12 {
            let out = user.home().join("plan-ended");
            let mut child = command(host, user, PLAIN, &out)?.stderr(std::process::Stdio::null()).spawn()?;
            sleep(Duration::from_millis(35 * round));
            let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM);
            until("the planner to end", || child.try_wait().ok().flatten(), String::new)?;
            nothing(host)?;
        }
    }
    Ok(())
}
