//! Launches that are ended at any moment, and parts of them that are: nothing is left.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, Subject, processes, rounds, until};
use nix::sys::signal::Signal;

use super::ground::{Case, Flake, Ground, works};
use super::remains::Host;

/// Alone, since what is on the host is counted.
pub(super) const ALONE: &[Case] = &[
    ("torture_a_launch_killed_at_any_moment", launch),
    ("torture_a_launch_that_makes_its_namespace", own_namespace),
    ("a_killed_init", init),
    ("a_killed_parent", parent),
];

const ROUNDS: u32 = 8;
const SIGNALS: [Signal; 5] =
    [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT];

/// A moment within the part of a span that belongs to a round.
pub(super) fn moment(span: Duration, round: u32, rounds: u32) -> Result<Duration> {
    let noise = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.subsec_nanos() % 1000;
    Ok(span / rounds * round + span / rounds * noise / 1000)
}

fn launch(ground: &Ground<'_>) -> Result<()> {
    with_runtime(ground, None)
}

/// Where podman keeps no namespace for the user it takes several programs more.
fn own_namespace(ground: &Ground<'_>) -> Result<()> {
    with_runtime(ground, Some(Path::new("/nowhere")))
}

fn with_runtime(ground: &Ground<'_>, runtime: Option<&Path>) -> Result<()> {
    let flake = ground.flake()?;
    let call = |words: &[&str]| {
        let mut command = flake.command(words);
        command.envs(runtime.map(|runtime| ("XDG_RUNTIME_DIR", runtime)));
        Call::new(command)
    };
    at_any_moment(ground, &flake, (call, ROUNDS), |_| Ok(()))
}

/// Ends calls by every signal at every part of what one takes; each time `look` says whether all is as it should be
/// besides what the host has.
pub(super) fn at_any_moment(
    ground: &Ground<'_>,
    flake: &Flake<'_>,
    (call, few): (impl Fn(&[&str]) -> Call, u32),
    look: impl Fn(Signal) -> Result<()>,
) -> Result<()> {
    let host = Host::look()?;
    // What a launch takes, and a bit.
    let start = Instant::now();
    call(&["true"]).check()?;
    let span = start.elapsed() * 3 / 2;
    let rounds = rounds(few);
    for (round, signal) in (0..rounds).flat_map(|round| SIGNALS.map(|signal| (round, signal))) {
        let mark = ground.host.mark();
        let mut child = call(&["sleep", &mark]).spawn()?;
        let moment = moment(span, round, rounds)?;
        thread::sleep(moment);
        processes::kill(child.id(), signal);
        let status = child.wait()?;
        let at = || format!("{signal} {moment:?} after the start, {status}");
        ensure!(status.signal() == Some(signal as i32), "{}", at());
        processes::until_gone(&mark).with_context(at)?;
        look(signal).with_context(at)?;
        host.has_nothing_more().with_context(at)?;
    }
    flake.keeps_its_plan("after all that")
}

/// The first process inside takes all others with it.
fn init(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let host = Host::look()?;
    let mark = ground.host.mark();
    let script = format!("sleep {mark} & echo up; sleep {mark}; echo not reached");
    let mut child = Call::new(flake.command(&["sh", "-c", &script])).spawn()?;
    let init = init_of(&child)?;
    let running = || (processes::marked(&mark).len() >= 3).then_some(());
    until("the app", running, || format!("{:#?}", processes::marked(&mark)))?;
    processes::kill(init, Signal::SIGKILL);
    let status = child.wait()?;
    ensure!(status.signal() == Some(Signal::SIGKILL as i32), "{status}");
    processes::until_gone(&mark)?;
    host.has_nothing_more()?;
    works(&flake.echo()?)
}

fn init_of(launcher: &Child) -> Result<u32> {
    let init = || {
        let all = processes::all();
        let is_init =
            |process: &&processes::Process| process.parent == launcher.id() && process.name == "flake-init";
        all.iter().find(is_init).map(|process| process.pid)
    };
    Ok(until("the init", init, || format!("{:#?}", processes::all()))?)
}

/// As for the host's own command: it goes on without whoever called it, until it is ended itself.
fn parent(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let control = Subject::control(ground.way.caller);
    for app in [&control.app, &flake.app] {
        let host = Host::look()?;
        let mark = ground.host.mark();
        let mut shell = ground.way.caller.command("/bin/sh");
        shell.args(["-c", "\"$0\" sleep \"$1\"; :"]).arg(app).arg(&mark);
        let mut shell = Call::new(shell).spawn()?;
        let children = || {
            let all = processes::marked(&mark);
            let launchers: Vec<_> = all.iter().filter(|process| process.parent == shell.id()).collect();
            let inside = all.iter().any(|process| process.parent != shell.id() && process.pid != shell.id());
            let is_up = inside || app == &control.app;
            launchers.first().filter(|_| is_up).map(|launcher| launcher.pid)
        };
        let launcher = until("the app", children, || format!("{:#?}", processes::marked(&mark)))?;
        processes::kill(shell.id(), Signal::SIGKILL);
        shell.wait()?;
        thread::sleep(Duration::from_millis(100));
        ensure!(processes::marked(&mark).iter().any(|process| process.pid == launcher), "it has ended too");
        processes::kill(launcher, Signal::SIGKILL);
        processes::until_gone(&mark)?;
        host.has_nothing_more()?;
    }
    Ok(())
}
