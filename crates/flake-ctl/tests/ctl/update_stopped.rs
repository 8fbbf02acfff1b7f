//! Updates that do not come to their end.

use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::{BOB, Call, Image, ROOT, ScratchHost};

use crate::Case;
use crate::files::{State, private};
use crate::killed::Hit;
use crate::registry;
use crate::told::{line, silent};

pub(crate) const CASES: &[Case] = &[("an_update_stopped_at_any_moment_leaves_the_old", stopped)];

/// With flakes of their own, all of them.
pub(crate) const ALONE: &[Case] =
    &[("an_update_on_a_full_disk_leaves_the_old", full_disk), ("one_that_fails_stops_no_other", one_fails)];

const ONE: &[(&str, &str)] = &[("/v", "one")];
const TWO: &[(&str, &str)] = &[("/v", "two")];

/// The names of root's images of these trials.
fn names(host: &ScratchHost, word: &str) -> Result<Vec<String>> {
    let format = "{{.Repository}} {{.Tag}} {{.ID}}";
    let images = host.podman(&ROOT, ["images", "--no-trunc", "--format", format]).check()?.out();
    let mut names: Vec<String> =
        images.lines().filter(|name| name.contains(word)).map(str::to_owned).collect();
    names.sort();
    Ok(names)
}

/// Of an image of a registry, with a signal before each of podman's calls in turn.
fn stopped(host: &ScratchHost) -> Result<()> {
    let path = Path::new("/usr/local/bin/stop-m");
    let reference = format!("{}/stop-m", registry::AT);
    registry::put(host, "stop-m", &Image { name: "stop-m1", files: ONE, ..Image::BOX })?;
    host.podman(&ROOT, ["pull", "--quiet", &reference]).check()?;
    let words = ["register", "--container", &reference, "--target", "/bin/busybox", "--app"];
    silent(host.flake_ctl(&ROOT, words.into_iter().chain(["/usr/local/bin/stop-m"])))?;
    registry::put(host, "stop-m", &Image { name: "stop-m2", files: TWO, ..Image::BOX })?;
    let mut before = (State::of("stop-m", path, host)?, names(host, "stop-m")?);
    for (signal, number) in [("TERM", 15), ("KILL", 9)] {
        for at in 1.. {
            let outcome = Hit { signal, at }.call("stop-m", &["update", "stop-m"])?;
            let is_done =
                outcome.success() || names(host, "stop-m")?.iter().any(|name| name.contains("previous"));
            if is_done && (outcome.success() || signal == "KILL") {
                ensure!(at > 6, "podman was called {at} times only");
                break;
            }
            ensure!(outcome.signal == Some(number), "{signal} {at}: {outcome}");
            if signal == "KILL" {
                // The next one undoes what was left.
                line(host, &ROOT, "update stop-m --rollback").run()?;
            }
            let now = (State::of("stop-m", path, host)?, names(host, "stop-m")?);
            ensure!(now == before, "{signal} {at}: {before:#?}\n{now:#?}");
        }
        if signal == "TERM" {
            line(host, &ROOT, "update stop-m --rollback").check()?;
            line(host, &ROOT, "remove --app /usr/local/bin/stop-m").check()?;
            host.podman(&ROOT, ["tag", "localhost/stop-m1", &reference]).check()?;
            silent(host.flake_ctl(&ROOT, words.into_iter().chain(["/usr/local/bin/stop-m"])))?;
            before = (State::of("stop-m", path, host)?, names(host, "stop-m")?);
        }
    }
    silent(line(host, &ROOT, "remove --app /usr/local/bin/stop-m"))?;
    host.podman(&ROOT, ["rmi", &reference]).check()?;
    Ok(())
}

/// The archive is written to a disk that is too small for it.
fn full_disk(host: &ScratchHost) -> Result<()> {
    let path = Path::new("/usr/local/bin/full-m");
    host.image(&ROOT, &Image { name: "full-m", files: ONE, ..Image::BOX })?;
    host.image(&ROOT, &Image { name: "full-m2", files: TWO, ..Image::BOX })?;
    silent(line(
        host,
        &ROOT,
        "register --container localhost/full-m --target /bin/busybox --app /usr/local/bin/full-m",
    ))?;
    host.podman(&ROOT, ["tag", "localhost/full-m2", "localhost/full-m"]).check()?;
    let before = State::of("full-m", path, host)?;
    for size in ["4k", "64k", "512k"] {
        let script = format!(
            "mount -t tmpfs -o size={size},mode=755 tmpfs /usr/share/flakes/images && flake-ctl update full-m; \
             status=$?; ls -A /usr/share/flakes/images; exit $status"
        );
        let outcome = private(&script).run()?;
        ensure!(outcome.code == Some(1) && outcome.stdout.is_empty(), "{size}: {outcome}");
        ensure!(outcome.err().contains("no space left on device"), "{size}: {outcome}");
        before.is_still("full-m", path, host)?;
    }
    line(host, &ROOT, "update full-m").check()?;
    silent(line(host, &ROOT, "remove --app /usr/local/bin/full-m"))
}

/// Of bob's three flakes one comes from a registry that is not there.
fn one_fails(host: &ScratchHost) -> Result<()> {
    host.image(&BOB, &Image { name: "all-m", files: ONE, ..Image::BOX })?;
    host.image(&BOB, &Image { name: "all-m2", files: TWO, ..Image::BOX })?;
    host.podman(&BOB, ["tag", "localhost/all-m", "localhost:1/all-m"]).check()?;
    for (name, image) in
        [("a-m", "localhost:1/all-m"), ("b-m", "localhost/all-m"), ("c-m", "localhost/all-m")]
    {
        let app = format!("/home/bob/{name}");
        let words = ["register", "--container", image, "--target", "/bin/busybox", "--app", &app];
        host.flake_ctl(&BOB, words).check()?;
    }
    host.podman(&BOB, ["tag", "localhost/all-m2", "localhost/all-m"]).check()?;
    let outcome = line(host, &BOB, "update --all --format csv").run()?;
    let said = outcome.err();
    ensure!(outcome.code == Some(1), "{outcome}");
    ensure!(
        said.starts_with("flake-ctl: a-m: cannot fetch localhost:1/all-m:latest: ")
            && said.lines().count() == 1,
        "{outcome}"
    );
    let rows = outcome.out();
    let names: Vec<&str> = rows.lines().filter_map(|row| row.split(',').next()).collect();
    ensure!(names == ["b-m", "c-m"], "{outcome}");
    for (name, version) in [("a-m", "one"), ("b-m", "two"), ("c-m", "two")] {
        let mut command = BOB.command(format!("/home/bob/{name}"));
        command.args(["cat", "/v"]);
        let outcome = Call::new(command).check()?;
        ensure!(outcome.out() == version, "{name}: {outcome}");
    }
    let back = line(host, &BOB, "update --all --rollback --format csv").check()?.out();
    ensure!(back.lines().count() == 2, "{back}");
    for name in ["a-m", "b-m", "c-m"] {
        silent(line(host, &BOB, &format!("remove --app /home/bob/{name}")))?;
    }
    Ok(())
}
