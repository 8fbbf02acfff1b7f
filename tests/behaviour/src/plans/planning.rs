//! A planning that is killed in the middle.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, processes, rounds, until};
use nix::sys::signal::Signal;

use super::ground::{Case, Ground, refused, works};
use super::killed::moment;

pub(super) const CASES: &[Case] =
    &[("torture_a_killed_planning", killed), ("torture_a_killed_planning_of_a_call", killed_of_call)];

const ROUNDS: u32 = 4;

fn killed(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let renew = || {
        let scope = if ground.way.owner.id == 0 { "system" } else { "user" };
        let words = ["plan", "--renew", "--scope", scope, "--", &flake.name];
        ground.host.flake_ctl(ground.way.caller, words)
    };
    let start = Instant::now();
    renew().check()?;
    let span = start.elapsed();
    for round in 0..rounds(ROUNDS) {
        let mut child = renew().spawn()?;
        let moment = moment(span, round, rounds(ROUNDS))?;
        thread::sleep(moment);
        processes::kill(child.id(), Signal::SIGKILL);
        child.wait()?;
        fs::remove_file(&flake.plan).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        let first = flake.echo()?;
        works(&first).or_else(|_| refused(&first, &flake.name)).with_context(|| format!("{moment:?}"))?;
        works(&flake.echo()?).with_context(|| format!("the second call, {moment:?}"))?;
    }
    renew().check()?;
    no_scratch(ground)?;
    flake.keeps_its_plan("after all that")
}

/// The one that a call has started.
fn killed_of_call(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    for round in 0..rounds(ROUNDS) {
        fs::remove_file(&flake.plan)?;
        let mut child = Call::new(flake.command(&["echo", "word"])).spawn()?;
        let launcher = child.id();
        let planning = || {
            let all = processes::all();
            all.into_iter().find(|process| process.parent == launcher && process.name == "flake-ctl")
        };
        let planning = until("the planning", planning, String::new)?;
        thread::sleep(moment(Duration::from_millis(700), round, rounds(ROUNDS))?);
        processes::kill(planning.pid, Signal::SIGKILL);
        let status = child.wait()?;
        ensure!(status.success(), "{status}");
        works(&flake.echo()?)?;
        ensure!(flake.goes_straight()?);
    }
    ground.host.flake_ctl(ground.way.caller, ["plan", "--renew", "--", &flake.name]).check()?;
    no_scratch(ground)
}

/// Whoever plans clears up behind those that could not. Others plan meanwhile, so that there may be young ones.
fn no_scratch(ground: &Ground<'_>) -> Result<()> {
    let list = || {
        let words = ["ps", "--all", "--quiet", "--no-trunc", "--filter", "label=flake.scratch"];
        ground.host.podman(ground.way.caller, words).check().map(|outcome| outcome.out())
    };
    let first = list()?;
    let gone = || {
        let now = list().ok()?;
        first.lines().all(|id| !now.contains(id)).then_some(())
    };
    Ok(until("the end of containers of killed plannings", gone, || first.clone())?)
}
