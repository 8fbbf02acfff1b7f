//! ^C and the like while an instance is made or started: the launcher ends by the signal, and nothing is half-made.

use std::os::unix::process::ExitStatusExt as _;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{processes, rounds, until};
use nix::sys::signal::Signal;

use super::ground::{Case, Flake, Ground};
use super::killed::ROUNDS;

pub(super) const CASES: &[Case] =
    &[("torture_stopped_while_it_is_made", making), ("torture_stopped_while_it_is_started", starting)];

const SIGNALS: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// A moment within the part of a span that belongs to a round.
pub(super) fn moment(span: Duration, round: u32, rounds: u32) -> Result<Duration> {
    let noise = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.subsec_nanos() % 1000;
    Ok(span / rounds * round + span / rounds * noise / 1000)
}

fn at_any_moment(flake: &Flake<'_>, span: Duration, each: &dyn Fn() -> Result<()>) -> Result<()> {
    let rounds = rounds(ROUNDS);
    for (round, signal) in (0..rounds).zip(SIGNALS.into_iter().cycle()) {
        let mark = flake.host.mark();
        let mut child = flake.call(&["sleep", &mark]).spawn()?;
        let moment = moment(span, round, rounds)?;
        thread::sleep(moment);
        processes::kill(child.id(), signal);
        let at = || format!("{signal} {moment:?} after the start");
        let ended = || child.try_wait().ok().flatten();
        let status =
            until("the launcher's end", ended, || format!("{:#?}", processes::all())).with_context(at)?;
        ensure!(status.signal() == Some(signal as i32), "{}: {status}", at());
        processes::until_gone(&mark).with_context(at)?;
        each().with_context(at)?;
    }
    Ok(())
}

fn making(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let span = flake.span(Flake::works)?;
    flake.remove()?;
    at_any_moment(&flake, span, &|| {
        // What stays on at the other side of sudo ends a moment later.
        let whole = || (flake.note().exists() || flake.nothing_more().is_ok()).then_some(());
        until("an instance, or none", whole, || format!("{:?}", flake.containers()))?;
        flake.works()?;
        flake.is_one()?;
        flake.remove()?;
        flake.nothing_more()
    })
}

fn starting(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    flake.podman(&["kill", &flake.container()])?;
    let span = flake.span(Flake::has_data)?;
    at_any_moment(&flake, span, &|| {
        flake.has_data()?;
        flake.is_one()?;
        flake.podman(&["kill", &flake.container()])?;
        Ok(())
    })?;
    flake.end()
}
