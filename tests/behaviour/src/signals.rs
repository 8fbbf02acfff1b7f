//! Signals sent to the launcher reach the app.

use anyhow::{Result, ensure};
use flake_testkit::processes::{self, Process};
use flake_testkit::{Conversation, until};
use nix::sys::signal::Signal;

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "sigterm_reaches_the_app", run: |scene| reaches(scene, Signal::SIGTERM, "TERM") },
    Case { name: "sigint_reaches_the_app", run: |scene| reaches(scene, Signal::SIGINT, "INT") },
    Case { name: "sighup_reaches_the_app", run: |scene| reaches(scene, Signal::SIGHUP, "HUP") },
    Case { name: "sigquit_reaches_the_app", run: |scene| reaches(scene, Signal::SIGQUIT, "QUIT") },
    Case { name: "sigusr1_reaches_the_app", run: |scene| reaches(scene, Signal::SIGUSR1, "USR1") },
    Case { name: "sigterm_ends_the_app", run: |scene| ends(scene, Signal::SIGTERM) },
    Case { name: "sigint_ends_the_app", run: |scene| ends(scene, Signal::SIGINT) },
    Case { name: "sighup_ends_the_app", run: |scene| ends(scene, Signal::SIGHUP) },
    Case { name: "sigabrt_ends_the_app", run: |scene| ends(scene, Signal::SIGABRT) },
    Case { name: "sigsegv_from_outside_ends_the_app", run: |scene| ends(scene, Signal::SIGSEGV) },
    Case { name: "sigpipe_from_outside_ends_the_app", run: |scene| ends(scene, Signal::SIGPIPE) },
    Case { name: "sigterm_at_once_ends_the_call", run: at_once },
    Case { name: "kill_9_of_the_launcher_ends_the_app", run: |scene| ends(scene, Signal::SIGKILL) },
    Case { name: "sigstop_and_sigcont", run: stop_and_continue },
    Case { name: "a_signal_to_the_group_comes_once", run: group },
    Case { name: "stopped_as_a_group_and_continued_alone", run: continued_alone },
    Case { name: "an_alarm_set_before_the_call", run: alarm },
    Case { name: "the_parents_death_is_told", run: parents_death },
];

/// The app handles the signal: a trap proves that it got this one.
fn reaches(scene: &Scene<'_>, signal: Signal, name: &str) -> Result<()> {
    let script = format!("trap 'echo got {name}; exit 9' {name}; echo ready; while :; do sleep 0.1; done");
    let outcome = scene.same(|subject| {
        let app = subject.talk(&script)?;
        app.expect("ready\n")?;
        app.signal(signal);
        Ok(app.end()?)
    })?;
    ensure!(outcome.code == Some(9) && outcome.out() == format!("ready\ngot {name}\n"), "{outcome}");
    Ok(())
}

/// The app does not handle the signal: it dies of it, the launcher too, and no process stays.
fn ends(scene: &Scene<'_>, signal: Signal) -> Result<()> {
    let ended = scene.same(|subject| {
        let mark = scene.host.mark();
        let app = subject.talk(&format!("echo ready; exec sleep {mark}"))?;
        app.expect("ready\n")?;
        // While it is on the way from the shell to sleep it has no command line.
        let running = || (!processes::marked(&mark).is_empty()).then_some(());
        until("the app among the processes", running, String::new)?;
        app.signal(signal);
        let outcome = app.end()?;
        processes::until_gone(&mark)?;
        Ok(outcome)
    })?;
    ensure!(ended.signal == Some(signal as i32), "{ended}");
    Ok(())
}

/// Sent while the launch is still under way; whatever was begun is undone.
fn at_once(scene: &Scene<'_>) -> Result<()> {
    let ended = scene.same(|subject| {
        let mark = scene.host.mark();
        let app = Conversation::new(subject.call(&["sleep", &mark]).spawn()?);
        let path = subject.app.to_string_lossy();
        let launcher = |process: &Process| process.line.starts_with(&*path);
        let running = || processes::marked(&mark).iter().any(launcher).then_some(());
        until("the start", running, String::new)?;
        app.signal(Signal::SIGTERM);
        let outcome = app.end()?;
        processes::until_gone(&mark)?;
        Ok(outcome.signal)
    })?;
    ensure!(ended == Some(Signal::SIGTERM as i32), "{ended:?}");
    Ok(())
}

/// A stopped launcher does not end the app, and it goes on afterwards.
fn stop_and_continue(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same(|subject| {
        let mut app = subject.talk("echo ready; read -r x; echo got $x")?;
        app.expect("ready\n")?;
        app.signal(Signal::SIGSTOP);
        app.say("word\n")?;
        app.signal(Signal::SIGCONT);
        Ok(app.end()?)
    })?;
    ensure!(outcome.success() && outcome.out() == "ready\ngot word\n", "{outcome}");
    Ok(())
}

/// Shells send signals to the group of a job, which the launcher is in.
fn group(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_script(
        r#"set -m; out=$(mktemp)
        "$APP" sh -c 'n=0; trap "n=\$((n+1))" USR1; echo ready; while test $n = 0; do sleep 0.05; done; sleep 0.3; echo $n' \
            >"$out" 2>/dev/null & job=$!
        until grep -q ready "$out"; do sleep 0.02; done
        kill -USR1 -- "-$job"; wait "$job"; echo "status $?"; cat "$out"; rm "$out""#,
    )?;
    ensure!(outcome.out() == "status 0\nready\n1\n", "{outcome}");
    Ok(())
}

fn continued_alone(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_script(
        r#"exec 2>/dev/null; set -m; in=$(mktemp -u); out=$(mktemp); mkfifo "$in"
        "$APP" sh -c 'echo ready; read -r x; echo "got $x"' <>"$in" >"$out" & job=$!
        until grep -q ready "$out"; do sleep 0.02; done
        kill -STOP -- "-$job"; sleep 0.2; kill -CONT "$job"; echo word >"$in"
        until grep -q got "$out"; do sleep 0.02; done; wait "$job"; echo "status $?"; cat "$out"; rm "$in" "$out""#,
    )?;
    ensure!(outcome.out() == "status 0\nready\ngot word\n", "{outcome}");
    Ok(())
}

/// The oldest way to limit a program's time.
fn alarm(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene
        .same_script(r#"exec 2>/dev/null; perl -e 'alarm 1; exec @ARGV' "$APP" sleep 9; echo "status $?""#)?;
    ensure!(outcome.out() == "status 142\n", "{outcome}");
    Ok(())
}

fn parents_death(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_script(
        r#"exec 2>/dev/null; out=$(mktemp)
        sh -c 'setpriv --pdeathsig TERM "$@" & until grep -q ready "$0"; do sleep 0.02; done; kill -9 $$' "$out" \
            "$APP" sh -c 'trap "echo told; exit" TERM; echo ready; while :; do sleep 0.05; done' >"$out" 2>/dev/null
        until grep -q told "$out"; do sleep 0.02; done; cat "$out"; rm "$out""#,
    )?;
    ensure!(outcome.out() == "ready\ntold\n", "{outcome}");
    Ok(())
}
