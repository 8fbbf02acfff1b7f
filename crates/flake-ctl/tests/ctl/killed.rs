//! Killed at any moment, the next command puts things right.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use flake_testkit::{Call, Image, Outcome, ROOT, ScratchHost, rounds};

use crate::Case;
use crate::files::State;
use crate::told::{BOX, line};

pub(crate) const ALONE: &[Case] = &[
    ("killed_at_podmans_calls", at_calls),
    ("torture_killed_at_random_moments", at_random),
    ("nothing_is_left_of_all_this", nothing_left),
];

/// How many random moments.
const ROUNDS: u32 = 12;
/// A registration takes about that long, its plan included.
const SPAN: Duration = Duration::from_millis(900);

/// A signal that flake-ctl gets just before its podman call number `at`.
pub(crate) struct Hit {
    pub(crate) signal: &'static str,
    pub(crate) at: u32,
}

/// Counts its calls and signals its parent, then is podman.
const WRAPPER: &str = r#"#!/bin/sh
count=$(($(cat "$HIT.count" 2>/dev/null || echo 0) + 1))
echo $count > "$HIT.count"
[ $count = "$HIT_AT" ] && kill -"$HIT_SIGNAL" $PPID
exec /usr/bin/podman "$@"
"#;

impl Hit {
    /// Root registers NAME of an image.
    pub(crate) fn register(&self, name: &str, image: &str, more: &[&str]) -> Result<Outcome> {
        let app = format!("/usr/local/bin/{name}");
        let words = ["register", "--container", image, "--target", "/bin/busybox", "--app", &app];
        self.call(name, &[&words, more].concat())
    }

    /// Root calls `flake-ctl`; NAME is whose calls are counted.
    pub(crate) fn call(&self, name: &str, words: &[&str]) -> Result<Outcome> {
        let folder = Path::new("/tmp/hit");
        fs::create_dir_all(folder)?;
        if !folder.join("podman").exists() {
            // Renamed, since another trial may run it.
            let draft = folder.join(format!("podman.{name}"));
            fs::write(&draft, WRAPPER)?;
            fs::set_permissions(&draft, Permissions::from_mode(0o755))?;
            fs::rename(draft, folder.join("podman"))?;
        }
        let hit = folder.join(name);
        let _ = fs::remove_file(hit.with_extension("count"));
        let mut command = ROOT.command("/usr/bin/flake-ctl");
        command.args(words);
        command.env("PATH", "/tmp/hit:/usr/local/bin:/usr/bin:/bin");
        command.env("HIT", &hit).env("HIT_AT", self.at.to_string()).env("HIT_SIGNAL", self.signal);
        Ok(Call::new(command).run()?)
    }
}

/// Has the next command undo what was left.
fn recover(host: &ScratchHost) -> Result<()> {
    host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/bin/next-j", "--force"])).check()?;
    Ok(())
}

/// Either the old state, to the file, or the new one: a process killed after its last step has done all.
fn at_calls(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    host.image(&ROOT, &Image::ENTRY)?;
    let path = Path::new("/usr/local/bin/kill-j");
    let register = |signal, at, image, more| Hit { signal, at }.register("kill-j", image, more);
    ensure!(register("KILL", u32::MAX, "localhost/entry", &[])?.success());
    let new = State::of("kill-j", path, host)?;
    for is_there in [false, true] {
        line(host, &ROOT, "remove --app /usr/local/bin/kill-j").check()?;
        let mut more = &[][..];
        if is_there {
            ensure!(register("KILL", u32::MAX, "localhost/box", &[])?.success());
            fs::write("/usr/share/flakes/kill-j.d/1.yaml", "type: immutable\n")?;
            more = &["--force"];
        }
        let before = State::of("kill-j", path, host)?;
        for at in 1.. {
            let outcome = register("KILL", at, "localhost/entry", more)?;
            if outcome.success() {
                ensure!(at > 5, "podman was called {at} times only");
                break;
            }
            ensure!(outcome.signal == Some(9), "{at}: {outcome}");
            recover(host)?;
            if State::of("kill-j", path, host)?.is_like(&new) {
                break;
            }
            before.is_still("kill-j", path, host)?;
        }
    }
    line(host, &ROOT, "remove --app /usr/local/bin/kill-j").check()?;
    Ok(())
}

fn at_random(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let path = Path::new("/usr/local/bin/rand-j");
    let words = BOX.iter().chain(&["--app", "/usr/local/bin/rand-j"]);
    let absent = State::of("rand-j", path, host)?;
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        let mut child = host.flake_ctl(&ROOT, words.clone()).spawn()?;
        std::thread::sleep(SPAN / rounds * round);
        child.kill()?;
        child.wait()?;
        recover(host)?;
        if fs::exists("/usr/share/flakes/rand-j.yaml")? {
            ensure!(fs::read_link(path)? == Path::new("/usr/bin/podman-pilot"), "round {round}");
            ensure!(fs::exists("/usr/share/flakes/images/rand-j.oci.tar")?, "round {round}");
            line(host, &ROOT, "remove --app /usr/local/bin/rand-j").check()?;
        }
        absent.is_still("rand-j", path, host)?;
    }
    Ok(())
}

/// The names in a folder, which need not be there when only some trials ran.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn nothing_left(host: &ScratchHost) -> Result<()> {
    line(host, &ROOT, "remove --app /usr/local/bin/next-j").run()?;
    for folder in [
        "/usr/share/flakes",
        "/usr/share/flakes/images",
        "/home/ada/.config/flakes",
        "/var/lib/flakes/pins",
        "/var/lib/flakes/plans",
    ] {
        let real = names(&host.real(folder).to_string_lossy());
        let mut left = names(folder);
        left.retain(|name| !["images", "podman"].contains(&name.as_str()) && !real.contains(name));
        ensure!(left.is_empty(), "{folder}: {left:?}");
    }
    // The machine's own programs are there as well.
    for name in names("/usr/local/bin") {
        let path = Path::new("/usr/local/bin").join(&name);
        let is_ours = fs::read_link(path).is_ok_and(|target| target.ends_with("podman-pilot"));
        ensure!(!is_ours && !name.contains(".flake-"), "{name}");
    }
    for user in [&ROOT, &flake_testkit::ADA, &flake_testkit::BOB] {
        // What a killed process looked at is removed by the next that plans, ten minutes later.
        let looked_at =
            host.podman(user, ["ps", "--all", "--quiet", "--filter", "label=flake.scratch"]).check()?;
        let mut left = host.containers(user)?;
        left.retain(|id| !looked_at.out().lines().any(|looked_at| looked_at == id));
        ensure!(left.is_empty(), "{} has containers: {left:?}", user.name);
    }
    let images = host.podman(&ROOT, ["images", "--format", "{{.Repository}}"]).check()?.out();
    ensure!(!images.contains("localhost/flake/") && !images.contains("<none>"), "{images}");
    Ok(())
}
