//! What a process gets from its parent without asking, and life without a terminal.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, Conversation};
use nix::sys::signal::Signal;

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "umask_is_inherited", run: umask },
    Case { name: "ignored_signals_stay_ignored", run: ignored },
    Case { name: "nohup_protects_the_app", run: nohup },
    Case { name: "signal_dispositions_are_inherited", run: dispositions },
    Case { name: "term_is_inherited", run: term },
    Case { name: "no_terminal_at_all", run: no_terminal },
];

fn umask(scene: &Scene<'_>) -> Result<()> {
    for mask in ["0027", "0077", "0002"] {
        let outcome = scene.same_script(&format!(r#"umask {mask}; "$APP" sh -c umask"#))?;
        ensure!(outcome.out().trim() == mask, "{outcome}");
    }
    Ok(())
}

fn ignored(scene: &Scene<'_>) -> Result<()> {
    let app = r#""$APP" sh -c 'kill -HUP $$; kill -INT $$; kill -TERM $$; echo alive'"#;
    let outcome = scene.same_script(&format!("trap '' HUP INT; {app}"))?;
    ensure!(outcome.out().is_empty() && !outcome.success(), "{outcome}");
    let outcome = scene.same_script(&format!("trap '' HUP INT TERM; {app}"))?;
    ensure!(outcome.out() == "alive\n", "{outcome}");
    Ok(())
}

/// As after `nohup`: neither the app nor the launcher takes notice of a hang-up.
fn nohup(scene: &Scene<'_>) -> Result<()> {
    let script = r#"trap '' HUP; exec "$APP" sh -c 'while read -r x; do echo got $x; done'"#;
    let outcome = scene.same(|subject| {
        let mut app = Conversation::new(Call::new(subject.script(script)).spawn()?);
        for word in ["one", "two", "three"] {
            app.say(&format!("{word}\n"))?;
            app.expect(&format!("got {word}\n"))?;
            app.signal(Signal::SIGHUP);
        }
        Ok(app.end()?)
    })?;
    ensure!(outcome.success() && outcome.out() == "got one\ngot two\ngot three\n", "{outcome}");
    Ok(())
}

/// SIGPIPE above all, which programs written in some languages ignore and so would their children.
fn dispositions(scene: &Scene<'_>) -> Result<()> {
    for before in ["", "trap '' PIPE USR1;"] {
        let script = format!(r#"{before} "$APP" sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status'"#);
        let sets = scene.same(|subject| {
            let outcome = Call::new(subject.script(&script)).check()?;
            outcome.out().lines().map(classic).collect::<Result<Vec<_>>>()
        })?;
        ensure!(sets.len() == 2, "{sets:?}");
        let ignored = sets.iter().any(|(name, set)| name == "SigIgn" && set & PIPE_AND_USR1 == PIPE_AND_USR1);
        ensure!(ignored != before.is_empty(), "{sets:?}");
    }
    Ok(())
}

const PIPE_AND_USR1: u64 = 1 << 12 | 1 << 9;

/// The name and the set of a line of /proc/PID/status, without signals 32 and up: C libraries keep those from
/// being changed, so they are whatever the first process of the machine left them.
fn classic(line: &str) -> Result<(String, u64)> {
    let (name, set) = line.split_once(":\t").context("no set")?;
    Ok((name.to_owned(), u64::from_str_radix(set, 16)? & 0x7fff_ffff))
}

fn term(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_script(r#"TERM=vt220 "$APP" sh -c 'echo $TERM'"#)?;
    ensure!(outcome.out() == "vt220\n", "{outcome}");
    Ok(())
}

/// As cron runs a command: a session of its own that has no terminal.
fn no_terminal(scene: &Scene<'_>) -> Result<()> {
    let script = "tty; sh -c ': </dev/tty' 2>/dev/null || echo none; cat; echo problem >&2; exit 4";
    let outcome = scene.same(|subject| {
        let mut command = subject.user.command("/usr/bin/setsid");
        command.arg("--wait").arg(&subject.app).args(["sh", "-c", script]);
        Ok(Call::new(command).stdin(Stdio::null()).run()?)
    })?;
    ensure!(outcome.code == Some(4) && outcome.out() == "not a tty\nnone\n", "{outcome}");
    ensure!(outcome.err() == "problem\n", "{outcome}");
    Ok(())
}
