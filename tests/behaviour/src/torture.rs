//! Launchers that are killed or told to end at any moment: nothing stays, whichever it was.

use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, processes, rounds};
use nix::sys::signal::Signal;

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "torture_ended_at_any_moment", run: ended },
    Case { name: "torture_stopped_at_any_moment", run: stopped },
];

const ROUNDS: u32 = 8;
/// A launch takes about that long; the app then sleeps.
const SPAN: Duration = Duration::from_millis(400);
const SIGNALS: [Signal; 4] = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

/// The first part of a launch, in which there is no command yet that could be stopped.
const START: Duration = Duration::from_millis(8);

/// A stop comes to the group of a job at any moment: the job stops, and goes on when it is continued.
fn stopped(scene: &Scene<'_>) -> Result<()> {
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        let moment = START / rounds * round;
        let script = format!(
            r#"exec 2>/dev/null; set -m; "$APP" sh -c 'exit 7' & job=$!; sleep {}; kill -TSTP -- "-$job"
            sleep 0.1; kill -CONT -- "-$job"; wait "$job"; code=$?
            while kill -0 "$job"; do kill -CONT -- "-$job"; wait "$job"; code=$?; done; echo "status $code""#,
            moment.as_secs_f64()
        );
        let outcome = Call::new(scene.subject.script(&script)).run()?;
        ensure!(outcome.out() == "status 7\n", "{moment:?} after the start: {outcome}");
    }
    Ok(())
}

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
