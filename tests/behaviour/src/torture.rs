//! Launchers that are killed or told to end at any moment: nothing stays, whichever it was.

use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use flake_testkit::{processes, rounds};
use nix::sys::signal::Signal;

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[Case { name: "torture_ended_at_any_moment", run: ended }];

const ROUNDS: u32 = 8;
/// A launch takes about that long; the app then sleeps.
const SPAN: Duration = Duration::from_millis(400);
const SIGNALS: [Signal; 4] = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

fn ended(scene: &Scene<'_>) -> Result<()> {
    let rounds = rounds(ROUNDS);
    for (round, signal) in (0..rounds).zip(SIGNALS.into_iter().cycle()) {
        let mark = scene.host.mark();
        let mut child = scene.subject.call(&["sleep", &mark]).spawn()?;
        // Each round in its own part of the span, at a moment of its own.
        let noise = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.subsec_nanos() % 1000;
        let moment = SPAN / rounds * round + SPAN / rounds * noise / 1000;
        thread::sleep(moment);
        processes::kill(child.id(), signal);
        child.wait()?;
        processes::until_gone(&mark).with_context(|| format!("{signal} {moment:?} after the start"))?;
    }
    Ok(())
}
