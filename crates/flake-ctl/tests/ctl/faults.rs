//! Registering on a full disk, and being stopped meanwhile.

use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::{Image, ROOT, ScratchHost};

use crate::Case;
use crate::files::{State, private};
use crate::killed::Hit;
use crate::told::{BOX, line, silent};

pub(crate) const CASES: &[Case] = &[
    ("stopped_at_any_moment_it_leaves_nothing", stopped),
    ("stopped_at_any_moment_it_keeps_the_old", stopped_force),
];

/// With registrations of its own it does not wait for others, and podman loses a name of an image that two processes
/// name at once.
pub(crate) const ALONE: &[Case] = &[("a_full_disk_leaves_nothing", full_disk)];

/// From a disk without a byte to one that is large enough.
fn full_disk(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let mut failures = 0;
    for size in ["4k", "8k", "12k", "16k", "64k", "512k", "1200k", "2m", "8m"] {
        let script = format!(
            "mount -t tmpfs -o size={size},mode=755 tmpfs /usr/share/flakes && mount -t tmpfs tmpfs /usr/local/bin && \
             flake-ctl {} --app /usr/local/bin/full-i; status=$?; \
             find /usr/share/flakes /usr/local/bin -mindepth 1; \
             [ $status != 0 ] || flake-ctl remove --app /usr/local/bin/full-i; exit $status",
            BOX.join(" ")
        );
        let outcome = private(&script).run()?;
        if outcome.success() {
            ensure!(outcome.out().contains("/usr/share/flakes/images/full-i.oci.tar\n"), "{size}: {outcome}");
            continue;
        }
        failures += 1;
        let said = outcome.err();
        ensure!(outcome.code == Some(1) && outcome.stdout.is_empty(), "{size}: {outcome}");
        ensure!(said.starts_with("flake-ctl: ") && said.lines().count() == 1, "{size}: {outcome}");
        ensure!(said.contains("no space left on device"), "{size}: {outcome}");
        ensure!(
            !host.podman(&ROOT, ["image", "exists", "localhost/flake/full-i"]).run()?.success(),
            "{size}"
        );
    }
    ensure!((3..9).contains(&failures), "{failures} of the disks were too small");
    Ok(())
}

/// A signal before each of podman's calls in turn.
fn stopped(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let path = Path::new("/usr/local/bin/stop-i");
    let before = State::of("stop-i", path, host)?;
    for signal in ["TERM", "INT"] {
        for at in 1.. {
            let outcome = Hit { signal, at }.register("stop-i", "localhost/box", &[])?;
            if outcome.success() {
                ensure!(at > 5, "podman was called {at} times only");
                break;
            }
            let number = if signal == "TERM" { 15 } else { 2 };
            ensure!(outcome.signal == Some(number) && outcome.err().is_empty(), "{signal} {at}: {outcome}");
            before.is_still("stop-i", path, host)?;
        }
        silent(line(host, &ROOT, "remove --app /usr/local/bin/stop-i"))?;
    }
    Ok(())
}

fn stopped_force(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    host.image(&ROOT, &Image::ENTRY)?;
    let path = Path::new("/usr/local/bin/keep-i");
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/bin/keep-i"])))?;
    std::fs::write("/usr/share/flakes/keep-i.d/1.yaml", "type: immutable\n")?;
    let before = State::of("keep-i", path, host)?;
    for at in 1.. {
        let outcome = Hit { signal: "TERM", at }.register("keep-i", "localhost/entry", &["--force"])?;
        if outcome.success() {
            break;
        }
        ensure!(outcome.signal == Some(15), "{at}: {outcome}");
        before.is_still("keep-i", path, host)?;
    }
    silent(line(host, &ROOT, "remove --app /usr/local/bin/keep-i"))
}
