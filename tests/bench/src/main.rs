//! The figures that are promised for calls through podman.

mod pairs;

use std::fs;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use flake_testkit::{ADA, Image, ROOT, ScratchHost, Subject, Suite, User, run, trial};
use pairs::{Pairs, in_turn, timed};

/// Rounds of a launch.
const LAUNCHES: usize = 20;
/// Rounds of a gibibyte.
const GIBIBYTES: usize = 5;
const GIBIBYTE: &str = "1073741824";
/// Registered beside the one that is called.
const MANY: usize = 999;

fn main() -> ExitCode {
    run(Suite { product: true, trials: vec![trial("figures", figures)], last: Vec::new() })
}

fn figures(host: &'static ScratchHost) -> Result<()> {
    heading();
    let mut rootful = None;
    for (name, owner, caller) in
        [("rootful", &ROOT, &ROOT), ("rootless", &ADA, &ADA), ("system", &ROOT, &ADA)]
    {
        let subject = Subject::register(host, name, (owner, caller), &[])?;
        // The store of the caller has it under this name too.
        let image = host.image(caller, &Image::BOX)?;
        let pairs = in_turn(
            LAUNCHES,
            || timed(|| succeeds(subject.command().arg("true"))),
            || timed(|| succeeds(&mut podman_run(caller, &image))),
        )?;
        row(&format!("launch, {name} / podman run --rm"), &pairs, 1.3);
        if name == "rootful" {
            rootful = Some(subject);
        }
    }
    let subject = rootful.context("no rootful subject")?;
    let control = Subject::control(&ROOT);
    let pairs = in_turn(GIBIBYTES, || timed(|| gibibyte(&subject)), || timed(|| gibibyte(&control)))?;
    row("1 GiB to a pipe / native", &pairs, 1.1);
    many(&subject)
}

/// Beside 999 others a call costs what it costs alone.
fn many(subject: &Subject) -> Result<()> {
    let folder = std::path::Path::new("/usr/share/flakes");
    let others = std::path::Path::new("/usr/share/others");
    fs::create_dir_all(others)?;
    let name = subject.app.file_name().context("no name")?.to_string_lossy().into_owned();
    let text = fs::read_to_string(folder.join(format!("{name}.yaml")))?;
    for number in 0..MANY {
        fs::write(
            others.join(format!("other-{number}.yaml")),
            text.replace(&name, &format!("other-{number}")),
        )?;
        fs::create_dir_all(others.join(format!("other-{number}.d")))?;
    }
    let call = || timed(|| succeeds(subject.command().arg("true")));
    let pairs = in_turn(
        LAUNCHES,
        || {
            move_all(others, folder)?;
            call()
        },
        || {
            move_all(folder, others)?;
            call()
        },
    )?;
    row("launch beside 999 flakes / alone", &pairs, 1.1);
    Ok(())
}

/// Moves the other registrations.
fn move_all(from: &std::path::Path, to: &std::path::Path) -> Result<()> {
    for number in 0..MANY {
        for suffix in ["yaml", "d"] {
            let name = format!("other-{number}.{suffix}");
            if from.join(&name).exists() {
                fs::rename(from.join(&name), to.join(&name))?;
            }
        }
    }
    Ok(())
}

fn podman_run(user: &'static User, image: &str) -> Command {
    let mut command = user.command("/usr/bin/podman");
    command.args(["run", "--rm", "--pull=never", "--network=host", image, "/bin/busybox", "true"]);
    command
}

fn succeeds(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// A gibibyte of zeros from the subject into a pipe that is read.
fn gibibyte(subject: &Subject) -> Result<()> {
    let script = format!("\"$APP\" head -c {GIBIBYTE} /dev/zero | wc -c");
    let output = subject.script(&script).output()?;
    ensure!(output.stdout.trim_ascii() == GIBIBYTE.as_bytes(), "{output:?}");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the figures are the output")]
fn heading() {
    println!("{:<42} {:>10} {:>10} {:>7} {:>6}", "", "ms", "beside ms", "ratio", "bar");
}

#[expect(clippy::print_stdout, reason = "the figures are the output")]
fn row(what: &str, pairs: &Pairs, bar: f64) {
    let ((subject, control), ratio) = (pairs.medians(), pairs.ratio());
    let verdict = if ratio <= bar { "" } else { "  over the bar" };
    println!("{what:<42} {subject:>10.1} {control:>10.1} {ratio:>7.2} {bar:>6}{verdict}");
}
