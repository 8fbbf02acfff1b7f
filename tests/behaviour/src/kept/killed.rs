//! `kill -9` at any moment: of the launcher, of the agent, of podman's monitor, of all that belongs to the container.

use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Outcome, processes, rounds};
use nix::sys::signal::Signal;

use super::ground::{Case, Flake, Ground, agents, monitors};
use super::stopped::moment;

pub(super) const CASES: &[Case] = &[
    ("torture_launcher_killed_while_it_is_made", launcher_making),
    ("torture_launcher_killed_while_it_is_started", launcher_starting),
    ("torture_launcher_killed_in_a_call", launcher_calling),
    ("torture_agent_killed", |ground| parts(ground, agents)),
    ("torture_monitor_killed", |ground| parts(ground, monitors)),
    ("torture_monitor_and_agent_killed", |ground| parts(ground, || [monitors(), agents()].concat())),
    ("torture_agent_and_monitor_killed", |ground| parts(ground, || [agents(), monitors()].concat())),
    ("monitor_killed_then_podman_stop", monitor_then_stop),
];

pub(super) const ROUNDS: u32 = 10;

/// A call that is killed some time after its start; nothing of it goes on.
fn kill_one(flake: &Flake<'_>, span: Duration, round: u32, rounds: u32) -> Result<Duration> {
    let mark = flake.host.mark();
    let mut child = flake.call(&["sleep", &mark]).spawn()?;
    let moment = moment(span, round, rounds)?;
    thread::sleep(moment);
    processes::kill(child.id(), Signal::SIGKILL);
    child.wait()?;
    processes::until_gone(&mark).with_context(|| format!("killed {moment:?} after the start"))?;
    Ok(moment)
}

fn launcher_making(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let span = flake.span(Flake::works)?;
    flake.remove()?;
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        let moment = kill_one(&flake, span, round, rounds)?;
        let at = || format!("launcher killed {moment:?} after the start");
        flake.works().with_context(at)?;
        flake.is_one().with_context(at)?;
        flake.remove().with_context(at)?;
        flake.nothing_more().with_context(at)?;
    }
    Ok(())
}

fn launcher_starting(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let halt = || flake.podman(&["kill", &flake.container()]);
    halt()?;
    let span = flake.span(Flake::has_data)?;
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        halt()?;
        let moment = kill_one(&flake, span, round, rounds)?;
        let at = || format!("launcher killed {moment:?} after the start");
        flake.has_data().with_context(at)?;
        flake.is_one().with_context(at)?;
    }
    flake.end()
}

fn launcher_calling(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let id = flake.noted()?.id;
    let rounds = rounds(ROUNDS) * 2;
    for round in 0..rounds {
        let moment = kill_one(&flake, Duration::from_millis(20), round, rounds)?;
        flake.has_data().with_context(|| format!("launcher killed {moment:?} after the start"))?;
    }
    ensure!(flake.noted()?.id == id, "it is another one");
    flake.is_one()?;
    flake.end()
}

/// Kills some of the processes of an instance, while a call runs in it or while it is started for one.
fn parts(ground: &Ground<'_>, victims: fn() -> Vec<u32>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    flake.podman(&["kill", &flake.container()])?;
    let starting = flake.span(Flake::has_data)?;
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        let is_up = round % 2 == 0;
        if !is_up {
            flake.podman(&["kill", &flake.container()])?;
        }
        let mark = flake.host.mark();
        let child = flake.call(&["sh", "-c", &format!("sleep 0.4{mark}; echo word")]);
        let call = thread::spawn(move || child.run());
        let span = if is_up { Duration::from_millis(50) } else { starting };
        let moment = moment(span, round, rounds)?;
        thread::sleep(moment);
        for victim in victims() {
            processes::kill(victim, Signal::SIGKILL);
        }
        let outcome = call.join().map_err(|_| anyhow::anyhow!("panic"))?;
        let at =
            || format!("killed {moment:?} after the start, {}", if is_up { "running" } else { "starting" });
        ends_somehow(&outcome.with_context(at)?).with_context(at)?;
        processes::until_gone(&mark).with_context(at)?;
        flake.has_data().with_context(at)?;
        flake.is_one().with_context(at)?;
    }
    flake.end()
}

/// It ran, or it says in one line why it did not; a launcher whose command has run has no standard error any more.
fn ends_somehow(outcome: &Outcome) -> Result<()> {
    let ran = outcome.success() && outcome.out() == "word\n";
    let lines = outcome.err().lines().count();
    let failed = outcome.stdout.is_empty()
        && (outcome.code == Some(125) && lines == 1 || outcome.signal == Some(9) && lines <= 1);
    ensure!(ran || failed, "{outcome}");
    Ok(())
}

/// Without its monitor podman believes that a container goes on ending.
fn monitor_then_stop(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    for victim in monitors() {
        processes::kill(victim, Signal::SIGKILL);
    }
    flake.has_data()?;
    flake.podman(&["stop", "--time", "1", &flake.container()])?;
    flake.heals()
}
