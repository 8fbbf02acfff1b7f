//! `%interactive`: a terminal for the application where standard input or output is none.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, Outcome, ROOT, ScratchHost, User, trial};
use libtest_mimic::Trial;

/// Who calls, and how the flake is registered.
const WAYS: [(&str, &User, &[&str]); 3] =
    [("rootful", &ROOT, &[]), ("rootless", &ADA, &[]), ("kept", &ADA, &["--mutable"])];

type Check = fn(&App<'_>) -> Result<()>;

const CHECKS: [(&str, Check); 7] = [
    ("is_a_terminal", is_a_terminal),
    ("what_is_piped_is_typed", typed),
    ("the_end_of_a_pipe_ends_the_input", end),
    ("much_output_is_whole", whole),
    ("status_and_signal", endings),
    ("a_closed_pipe_ends_it", closed),
    ("the_launcher_is_killed", terminated),
];

/// All of them, for each way.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (way, user, options) in WAYS {
        for (name, check) in CHECKS {
            trials.push(trial(format!("{way}::{name}"), move |host: &'static ScratchHost| {
                let flake = format!("forced-{way}-{name}");
                let path = host.register(user, (&flake, &Image::BOX, "/bin/busybox"), options)?;
                check(&App { path: &path, user })
            }));
        }
    }
    trials
}

struct App<'a> {
    path: &'a Path,
    user: &'a User,
}

impl App<'_> {
    /// `printf INPUT | app %interactive sh -c SCRIPT`.
    fn script(&self, input: &str, script: &str) -> Result<Outcome> {
        let mut command = self.user.command(self.path);
        command.args(["%interactive", "sh", "-c", script]);
        Ok(Call::new(command).input(input).run()?)
    }
}

fn is_a_terminal(app: &App<'_>) -> Result<()> {
    let outcome = app.script("", "tty >/dev/null && test -t 0 -a -t 1 -a -t 2 && stty size")?;
    ensure!(outcome.success() && outcome.out() == "24 80\r\n", "{outcome}");
    // Without the word there is none.
    let mut command = app.user.command(app.path);
    command.args(["sh", "-c", "test -t 0"]).stdin(Stdio::null());
    ensure!(Call::new(command).run()?.code == Some(1));
    Ok(())
}

fn typed(app: &App<'_>) -> Result<()> {
    let outcome = app.script("one\ntwo\n", "stty -echo; read a; read b; echo \"$b $a\"")?;
    ensure!(outcome.success() && outcome.out().ends_with("two one\r\n"), "{outcome}");
    Ok(())
}

fn end(app: &App<'_>) -> Result<()> {
    for input in ["", "line\n", "no end of line"] {
        let outcome = app.script(input, "stty -echo; cat >/tmp/got; wc -c </tmp/got")?;
        ensure!(outcome.success() && outcome.out().ends_with(&format!("{}\r\n", input.len())), "{outcome}");
    }
    Ok(())
}

fn whole(app: &App<'_>) -> Result<()> {
    let outcome = app.script("", "seq 1 50000")?;
    let expected: String = (1..=50000).map(|number| format!("{number}\r\n")).collect();
    ensure!(outcome.success() && outcome.out() == expected, "{} bytes", outcome.stdout.len());
    Ok(())
}

fn endings(app: &App<'_>) -> Result<()> {
    ensure!(app.script("", "exit 42")?.code == Some(42));
    let outcome = app.script("", "kill -TERM $$")?;
    ensure!(outcome.signal == Some(15), "{outcome}");
    Ok(())
}

fn closed(app: &App<'_>) -> Result<()> {
    let mut command = app.user.command("/bin/sh");
    let line = "\"$0\" %interactive yes </dev/null | head -n 1";
    command.args(["-c", line]).arg(app.path);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.success() && outcome.out() == "y\r\n", "{outcome}");
    Ok(())
}

fn terminated(app: &App<'_>) -> Result<()> {
    let mut command = app.user.command("/usr/bin/timeout");
    command.args(["--preserve-status", "--signal=TERM", "0.5"]).arg(app.path);
    command.args(["%interactive", "sleep", "60"]).stdin(Stdio::null());
    let outcome = Call::new(command).run()?;
    ensure!(outcome.code == Some(143), "{outcome}");
    Ok(())
}
