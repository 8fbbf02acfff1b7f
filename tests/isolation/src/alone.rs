//! Nothing but the launcher runs in a call: podman, what podman starts, and the programs that give rights away are
//! replaced by wrappers that tell on who calls them.

mod tattle;

use std::fs;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, AGENT_WAY, Call, DEADLINE, ScratchHost, Subject, processes, trial, until};
use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::{WAYS, Way};
use tattle::Tattle;

/// Programs that only make a user's namespace where podman keeps none.
const MAPPERS: [&str; 2] = ["newuidmap", "newgidmap"];

/// To be run one at a time, since the wrappers are everybody's.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let of_way =
        |way: &'static Way| trial(format!("{}::nothing_else_runs", way.name), move |host| alone(host, way));
    let mut trials: Vec<_> = WAYS.iter().map(of_way).collect();
    trials.push(trial("the_wrappers_tell", wrappers_tell));
    trials.push(trial("without_podmans_namespace_one_is_made", without_pause));
    trials
}

fn subject(host: &ScratchHost, name: &'static str, way: &Way, options: &[&str]) -> Result<Subject> {
    let subject = Subject::register(host, name, (way.owner, way.user), options)?;
    plan(&subject)?;
    Ok(subject)
}

/// A first call of each of them may still make a plan, as another podman has it made anew.
fn plan(subject: &Subject) -> Result<()> {
    for app in [&subject.app, &subject.missing, &subject.not_executable] {
        let mut command = subject.user.command(app);
        command.arg("true");
        Call::new(command).run()?;
    }
    Ok(())
}

/// Calls of all kinds, good ones and failures.
fn call(subject: &Subject) -> Result<()> {
    for (words, code) in
        [(&["true"][..], 0), (&["false"], 1), (&["sh", "-c", "exit 42"], 42), (&["no-such-applet"], 127)]
    {
        let outcome = subject.call(words).run()?;
        ensure!(outcome.code == Some(code), "{words:?}: {outcome}");
    }
    let killed = subject.call(&["sh", "-c", "kill -TERM $$"]).run()?;
    ensure!(killed.signal == Some(Signal::SIGTERM as i32), "{killed}");
    let piped = subject.call(&["cat"]).input("through a pipe\n").run()?;
    ensure!(piped.out() == "through a pipe\n", "{piped}");
    let pipeline =
        Call::new(subject.script("$APP yes | $APP head -n 1 | $APP cat; $APP date >/dev/null <&-")).run()?;
    ensure!(pipeline.out() == "y\n", "{pipeline}");
    let failures = Call::new(subject.script("$MISSING; echo $?; $PLAIN; echo $?")).run()?;
    ensure!(failures.out() == "127\n126\n", "{failures}");
    let terminal = subject.terminal("$APP sh -c 'tty; read line; echo got $line'")?;
    terminal.send("word\n")?;
    let ended = terminal.end()?;
    ensure!(ended.code == Some(0) && ended.seen.contains("got word"), "{ended:?}");
    let mut interrupted = subject.talk("echo there; sleep 1000")?;
    interrupted.expect("there")?;
    interrupted.say("")?;
    interrupted.signal(Signal::SIGKILL);
    interrupted.end()?;
    Ok(())
}

fn alone(host: &ScratchHost, way: &Way) -> Result<()> {
    let subject = subject(host, way.name, way, &[])?;
    let tattle = Tattle::install()?;
    plan(&subject)?;
    tattle.forget()?;
    call(&subject)?;
    let said = tattle.said()?;
    ensure!(said.is_empty(), "somebody else ran:\n{}", said.join("\n"));
    Ok(())
}

/// Else it would be no wonder that they are silent.
fn wrappers_tell(host: &ScratchHost) -> Result<()> {
    let subject = subject(host, "agent", &WAYS[1], AGENT_WAY)?;
    let tattle = Tattle::install()?;
    ensure!(subject.call(&["true"]).run()?.success(), "the agent's way does not work");
    for name in ["podman", "conmon"] {
        // Podman's own clean-up may take a moment longer than the call.
        until(name, || tattle.has_run(name).then_some(()), || format!("{:?}", tattle.said()))?;
    }
    ensure!(tattle.has_run("runc") || tattle.has_run("crun"), "no runtime: {:?}", tattle.said());
    let sudo = Call::new(ADA.command("/usr/bin/sudo")).run()?;
    ensure!(tattle.has_run("sudo"), "no sudo: {sudo}");
    Ok(())
}

/// The process that keeps podman's namespace for a user is killed: the launcher has one made, by the programs that may.
fn without_pause(host: &ScratchHost) -> Result<()> {
    let subject = subject(host, "mapped", &WAYS[1], &[])?;
    let tattle = Tattle::install()?;
    plan(&subject)?;
    let file = ADA.runtime_dir().context("no folder")?.join("libpod/tmp/pause.pid");
    let pid: u32 = fs::read_to_string(&file).context("podman keeps no namespace")?.trim().parse()?;
    let of_process = fs::read_to_string(format!("/proc/{pid}/cmdline"))?;
    ensure!(of_process.contains("catatonit") || of_process.contains("podman"), "{pid} is {of_process:?}");
    processes::kill(pid, Signal::SIGKILL);
    let is_gone =
        || processes::all().iter().all(|process| process.pid != pid || process.state == 'Z').then_some(());
    until("the end of podman's process", is_gone, || format!("{pid} after {DEADLINE:?}"))?;
    tattle.forget()?;
    call(&subject)?;
    let said = tattle.said()?;
    ensure!(MAPPERS.iter().all(|name| tattle.has_run(name)), "the namespace was made otherwise: {said:?}");
    let is_mapper = |line: &String| MAPPERS.iter().any(|name| line.starts_with(name));
    ensure!(said.iter().all(is_mapper), "somebody else ran:\n{}", said.join("\n"));
    Ok(())
}
