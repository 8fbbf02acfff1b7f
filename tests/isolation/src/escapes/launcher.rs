//! The launcher's own file, and the layers that it trusts.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Result, ensure};
use flake_testkit::{Outcome, rounds};

use super::{Case, Ground};
use crate::{Entry, PROBE, Tree};

pub(super) const CASES: &[Case] = &[
    ("the_launcher_is_not_overwritten", overwritten),
    ("the_launcher_is_not_run_inside", run_inside),
    ("the_launcher_is_not_run_inside_in_a_race", raced),
    ("a_layer_that_was_swapped_shows_nothing", swapped),
];

const LAUNCHER: &str = "/usr/bin/flake-pilot";

/// Everything that can be changed about a file.
fn state(path: &str) -> Result<(Vec<u8>, u32, u32, u32, u64, i64)> {
    let found = fs::metadata(path)?;
    Ok((fs::read(path)?, found.mode(), found.uid(), found.gid(), found.ino(), found.mtime()))
}

/// By everything that `/proc` has of other processes, while there are launches (the class of CVE-2019-5736).
fn overwritten(ground: &Ground<'_>) -> Result<()> {
    let before = state(LAUNCHER)?;
    let app = ground.plain()?;
    let script = "i=0; while [ $i -lt 40 ]; do i=$((i + 1)); for exe in /proc/[0-9]*/exe /proc/*/task/*/exe; do \
                  [ $exe -ef /bin/busybox ] && continue; { echo broken >$exe; } 2>/dev/null && echo wrote $exe; \
                  busybox chmod 777 $exe 2>/dev/null && [ -e $exe ] && echo opened $exe; done; done; true";
    let is_over = AtomicBool::new(false);
    let outcome = thread::scope(|scope| -> Result<Outcome> {
        let launches = || {
            while !is_over.load(Ordering::Relaxed) {
                ground.way.call(&app, &["true"])?;
            }
            anyhow::Ok(())
        };
        let others = [scope.spawn(launches), scope.spawn(launches)];
        let outcome = ground.way.call(&app, &["sh", "-c", script]);
        is_over.store(true, Ordering::Relaxed);
        for other in others {
            other.join().map_err(|_| anyhow::anyhow!("a launch panicked"))??;
        }
        outcome
    })?;
    ensure!(outcome.success() && outcome.out().is_empty(), "{outcome}");
    ensure!(state(LAUNCHER)? == before, "the launcher was changed");
    Ok(())
}

const fn own(name: &'static str, entries: &'static [(&'static str, Entry)]) -> Tree {
    Tree { name, entries, target: "/bin/own", ..Tree::PLAIN }
}

/// An interpreter whose name is longer than the kernel reads.
const LONG: &[u8] = &{
    let mut line = [b'a'; 300];
    (line[0], line[1], line[2]) = (b'#', b'!', b'/');
    line
};

/// Programs that are the launcher itself, while it is not yet the program.
const OWN: [Tree; 7] = [
    own("own-link", &[("bin/own", Entry::Link("/proc/self/exe"))]),
    own("own-script", &[("bin/own", Entry::File(0o755, 0, b"#!/proc/self/exe\n"))]),
    own(
        "own-nested",
        &[
            ("bin/own", Entry::File(0o755, 0, b"#! /bin/next -x\n")),
            ("bin/next", Entry::File(0o755, 0, b"#!/bin/last\n")),
            ("bin/last", Entry::Link("../proc/thread-self/exe")),
        ],
    ),
    own(
        "own-shell",
        &[("bin/own", Entry::File(0o755, 0, b"echo\n")), ("bin/sh", Entry::Link("/proc/self/exe"))],
    ),
    // What looks like a program and is none, which the kernel leaves to the shell.
    own(
        "own-no-program",
        &[("bin/own", Entry::File(0o755, 0, b"\x7fELFjunk")), ("bin/sh", Entry::Link("/proc/self/exe"))],
    ),
    own(
        "own-long-line",
        &[("bin/own", Entry::File(0o755, 0, LONG)), ("bin/sh", Entry::Link("/proc/self/exe"))],
    ),
    own("own-number", &[("bin/own", Entry::File(0o755, 0, b"#!/proc/self/fd/8/bin/true\n"))]),
];

fn run_inside(ground: &Ground<'_>) -> Result<()> {
    let before = state(LAUNCHER)?;
    for tree in &OWN {
        let app = ground.way.register(ground.host, tree, tree.name, &[])?;
        for _ in 0..2 {
            let outcome = ground.way.call(&app, &["word"])?;
            let is_refused = matches!(outcome.code, Some(126 | 127));
            ensure!(is_refused && outcome.err().contains("/bin/own"), "{}: {outcome}", tree.name);
        }
    }
    ensure!(state(LAUNCHER)? == before, "the launcher was changed");
    Ok(())
}

/// A program in a shared folder that becomes a link to the launcher between the look at it and its execution. Only root's
/// launches could do anything with the file.
fn raced(ground: &Ground<'_>) -> Result<()> {
    const FOLDER: &str = "/srv/escape-race";
    const RACED: Tree = Tree { name: "raced", target: "/srv/escape-race/program", ..Tree::PLAIN };
    if !ground.is_root() {
        return Ok(());
    }
    let before = state(LAUNCHER)?;
    let folder = Path::new(FOLDER);
    let program = folder.join("program");
    fs::create_dir(folder)?;
    fs::write(folder.join("good"), PROBE)?;
    fs::set_permissions(folder.join("good"), Permissions::from_mode(0o755))?;
    symlink("good", &program)?;
    let app = ground.way.flake(ground.host, &RACED, "escape-race", &["--share", FOLDER, "--as-image"])?;
    let is_over = AtomicBool::new(false);
    let (mut runs, mut refusals) = (0, 0);
    thread::scope(|scope| -> Result<()> {
        let swapper = scope.spawn(|| -> Result<()> {
            while !is_over.load(Ordering::Relaxed) {
                for target in ["good", "/proc/self/exe"] {
                    symlink(target, folder.join("next"))?;
                    fs::rename(folder.join("next"), &program)?;
                }
            }
            Ok(())
        });
        let calls = (0..rounds(60)).try_for_each(|_| {
            let outcome = ground.way.call(&app, &["nothing"])?;
            // The launcher inside would be called as the program is.
            let is_inside = outcome.err().lines().any(|line| line.starts_with("program:"));
            ensure!(!is_inside, "the launcher has run inside: {outcome}");
            if outcome.err().is_empty() {
                runs += 1;
            } else {
                refusals += 1;
            }
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        swapper.join().map_err(|_| anyhow::anyhow!("the swapper panicked"))??;
        calls
    })?;
    ensure!(refusals > 0, "never a link to the launcher in {runs} runs");
    ensure!(state(LAUNCHER)? == before, "the launcher was changed");
    Ok(())
}

/// A link to a folder that the caller cannot enter in the place of a layer. Root's store nobody else can change.
fn swapped(ground: &Ground<'_>) -> Result<()> {
    const SWAPPED: Tree = Tree { name: "swapped", ..Tree::PLAIN };
    if ground.is_root() {
        let store = fs::metadata("/var/lib/containers/storage")?;
        ensure!(store.mode() & 0o077 == 0 && store.uid() == 0, "root's store is open: {:o}", store.mode());
        return Ok(());
    }
    let app = ground.way.flake(ground.host, &SWAPPED, "escape-swap", &[])?;
    let secret = PathBuf::from("/srv").join(format!("secret-{}", ground.host.mark()));
    fs::create_dir(&secret)?;
    fs::write(secret.join("secret"), "root's own\n")?;
    fs::create_dir(secret.join("bin"))?;
    fs::copy("/bin/busybox", secret.join("bin/busybox"))?;
    fs::set_permissions(&secret, Permissions::from_mode(0o700))?;
    let image =
        if ground.way.owner.id == 0 { "localhost/flake/system-escape-swap" } else { "localhost/swapped" };
    let words = ["image", "inspect", "--format", "{{.GraphDriver.Data.UpperDir}}", image];
    let layer = PathBuf::from(ground.host.podman(ground.way.user, words).check()?.out().trim());
    let aside = layer.with_extension("aside");
    fs::rename(&layer, &aside)?;
    symlink(&secret, &layer)?;
    let called = ground.way.call(&app, &["busybox", "cat", "/secret"]);
    let listed = ground.way.call(&app, &["ls", "/"]);
    fs::remove_file(&layer)?;
    fs::rename(&aside, &layer)?;
    for outcome in [called?, listed?] {
        ensure!(!outcome.out().contains("root's own") && !outcome.out().contains("secret"), "{outcome}");
        ensure!(outcome.code == Some(125), "no word about a layer that is not there: {outcome}");
    }
    let again = ground.way.call(&app, &["true"])?;
    ensure!(again.success() && Path::new(&secret).exists(), "{again}");
    Ok(())
}
