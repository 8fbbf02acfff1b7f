//! The caller's launcher is killed at any moment.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, processes, rounds};
use nix::sys::signal::Signal;

use super::{Case, Ground};

pub(super) const CASES: &[Case] = &[("torture_a_caller_killed_at_any_moment", killed)];

const ROUNDS: u32 = 6;
/// A call's start takes about that long; the app then sleeps.
const SPAN: Duration = Duration::from_millis(900);

fn killed(ground: &Ground<'_>) -> Result<()> {
    let name = "tortured";
    let app = ground.flake(name, &[])?;
    let dir = ground.directory()?;
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700))?;
    chown(&dir, Some(ADA.id), Some(ADA.id))?;
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        let mark = ground.host.mark();
        let mut command = ADA.command(&app);
        command.args(["sleep", &mark]).env("XDG_RUNTIME_DIR", &dir);
        let mut child = Call::new(command).spawn()?;
        // Each round in its own part of the span, at a moment of its own.
        let part = SPAN / rounds;
        let noise = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.subsec_nanos() % 1000;
        let moment = part * round + part * noise / 1000;
        thread::sleep(moment);
        processes::kill(child.id(), Signal::SIGKILL);
        child.wait()?;
        let at = || format!("killed {moment:?} after the start");
        processes::until_gone(&mark).with_context(at)?;
        ground.none_left(name).with_context(at)?;
    }
    ensure!(rounds > 0, "no rounds");
    Ok(())
}
