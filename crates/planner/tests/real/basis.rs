//! What makes a plan old, and what of the user's a plan leaves alone.

use crate::Case;
use crate::maker::{PLAIN, Wish, command, plan, reason, recipe};
use anyhow::ensure;
use flake_plan::Plan;
use flake_testkit::{ADA, Call, ROOT, ScratchHost};
use std::fs;

pub(crate) const CASES: &[Case] = &[
    ("a filter of system calls in a file", filter),
    ("a volume that is made anew", volume),
    ("a variable of the caller's in containers.conf", callers_variable),
    ("a container that has the flake's name", namesake),
    ("what podman takes from the host", hosts_own),
];

/// The variables are another user's here.
fn has_changed(plan: &Plan) -> bool {
    plan.basis.files.iter().any(|file| !file.is_unchanged().unwrap_or(false))
}

fn filter(host: &ScratchHost) -> anyhow::Result<()> {
    let file = "/srv/filter.json";
    fs::write(file, r#"{"defaultAction":"SCMP_ACT_ALLOW"}"#)?;
    for user in [&ROOT, &ADA] {
        let made =
            plan(host, user, Wish { options: &["--security-opt", "seccomp=/srv/filter.json"], ..PLAIN })?;
        ensure!(!has_changed(&made), "{}", user.name);
        fs::write(file, r#"{"defaultAction":"SCMP_ACT_ALLOW", "syscalls":[]}"#)?;
        ensure!(has_changed(&made), "{}", user.name);
        recipe(made)?;
    }
    let made = plan(host, &ROOT, Wish { options: &["--security-opt=seccomp=filter.json"], ..PLAIN })?;
    ensure!(reason(&made)?.contains("filter.json"), "{:?}", made.way);
    Ok(fs::remove_file(file)?)
}

/// What is written to it makes no plan old.
fn volume(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        let options = &["-v", "again:/v"][..];
        let made = plan(host, user, Wish { options, ..PLAIN })?;
        let inspect = ["volume", "inspect", "--format", "{{.Mountpoint}}", "again"];
        let folder = host.podman(user, inspect).check()?.out();
        let mut touch = user.command("sh");
        touch.args(["-c", "touch \"$0/file\""]).arg(folder.trim());
        Call::new(touch).check()?;
        ensure!(!has_changed(&made), "{}: written to", user.name);
        recipe(made.clone())?;
        host.podman(user, ["volume", "rm", "again"]).check()?;
        let words = ["volume", "create", "--opt=type=tmpfs", "--opt=device=tmpfs", "again"];
        host.podman(user, words).check()?;
        ensure!(has_changed(&made), "{}: made anew", user.name);
        host.podman(user, ["volume", "rm", "again"]).check()?;
    }
    Ok(())
}

/// It must not stay on the disk.
fn callers_variable(host: &ScratchHost) -> anyhow::Result<()> {
    let conf = "/srv/callers.conf";
    fs::write(conf, "[containers]\nenv = [\"MYV\"]\n")?;
    let out = ADA.home().join("plan-variable");
    let mut make = command(host, &ADA, PLAIN, &out)?;
    make.env("CONTAINERS_CONF_OVERRIDE", conf).env("MYV", "not-for-others");
    Call::new(make).check()?;
    let made = Plan::read(&out, ADA.id)?;
    ensure!(reason(&made)? == "env in /srv/callers.conf", "{:?}", made.way);
    let bytes = fs::read(&out)?;
    ensure!(!bytes.windows(14).any(|part| part == b"not-for-others"), "in the plan");
    Ok(fs::remove_file(conf)?)
}

/// Planning neither fails because of it nor takes its place.
fn namesake(host: &ScratchHost) -> anyhow::Result<()> {
    let image = host.image(&ADA, PLAIN.image)?;
    host.podman(&ADA, ["create", "--name=mine", &image, "true"]).check()?;
    for (options, word) in [(&["--name=mine"][..], "--name"), (&["--replace", "--name=mine"], "--replace")] {
        let made = plan(host, &ADA, Wish { options, ..PLAIN })?;
        ensure!(reason(&made)? == word, "{:?}", made.way);
    }
    host.podman(&ADA, ["rm", "mine"]).check()?;
    Ok(())
}

/// Podman itself, the users and the time zone that options name.
fn hosts_own(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        let options = &["--hostuser=daemon", "--tz", "Etc/UTC"][..];
        let made = plan(host, user, Wish { options, ..PLAIN })?;
        let has = |path: &str| made.basis.files.iter().any(|file| file.path.ends_with(path));
        let podman = made.basis.program.as_ref().is_some_and(|program| program.path.ends_with("podman"));
        ensure!(podman, "{}: {:?}", user.name, made.basis.program);
        for path in ["/etc/passwd", "/usr/share/zoneinfo/Etc/UTC"] {
            ensure!(has(path), "{}: {path}", user.name);
        }
        ensure!(!has_changed(&made), "{}", user.name);
        recipe(made)?;
    }
    Ok(())
}
