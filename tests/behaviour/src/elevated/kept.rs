//! Instances that root's store keeps for a user.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Outcome, ROOT, Subject};

use super::{Case, Ground, call, refused};

pub(super) const CASES: &[Case] = &[
    ("kept_instance_is_entered_again", again),
    ("kept_instance_has_its_own_words", words),
    ("kept_instance_shows_where_the_caller_is", folders),
    ("kept_instance_is_each_users_own", apart),
    ("kept_instance_in_use_is_not_removed", in_use),
    ("kept_instance_that_was_killed_is_started_again", killed),
    ("kept_instance_is_chosen_on_a_terminal", chosen),
    ("kept_instance_tells_what_its_scripts_say", told),
];

const OPTIONS: &[&str] = &["--mutable"];

fn said(outcome: &Outcome, text: &str) -> Result<()> {
    ensure!(outcome.success() && outcome.out() == text, "{text:?} expected: {outcome}");
    Ok(())
}

/// The user's container of a flake, by podman's word.
fn container(ground: &Ground<'_>, name: &str) -> Result<String> {
    let filter = format!("name=^{name}$");
    let list = ground.host.podman(&ROOT, ["ps", "--all", "--quiet", "--filter", &filter]).check()?.out();
    Ok(list.trim().to_owned())
}

fn end(ground: &Ground<'_>, name: &str) -> Result<()> {
    ground.host.podman(&ROOT, ["rm", "--force", "--time", "0", name]).check()?;
    Ok(())
}

fn again(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-again", OPTIONS)?;
    said(&call(&ADA, &app, &["sh", "-c", "echo data > /file; id -u"])?, "0\n")?;
    said(&call(&ADA, &app, &["cat", "/file"])?, "data\n")?;
    let outcome = call(&ADA, &app, &["sh", "-c", "exit 42"])?;
    ensure!(outcome.code == Some(42), "{outcome}");
    ensure!(ground.made("kept-again")? == 1);
    end(ground, &format!("flake.{}..kept-again", ADA.id))
}

fn words(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-words", OPTIONS)?;
    said(&call(&ADA, &app, &["echo", "@two"])?, "@two\n")?;
    said(&call(&ADA, &app, &["@two", "echo", "second"])?, "second\n")?;
    refused(&call(&ADA, &app, &["echo"])?, "several instances: kept-words, two")?;
    said(&call(&ADA, &app, &["echo", "last", "@two"])?, "last\n")?;
    let list = call(&ADA, &app, &["flake", "list"])?;
    ensure!(list.success() && list.out().lines().count() == 2, "{list}");
    refused(&call(&ADA, &app, &["@two", "flake", "update"])?, "on a terminal")?;
    let outcome = call(&ADA, &app, &["%remove", "@two", "sh", "-c", "exit 7"])?;
    ensure!(outcome.code == Some(7) && outcome.stderr.is_empty(), "{outcome}");
    ensure!(container(ground, &format!("flake.{}..kept-words..two", ADA.id))?.is_empty());
    end(ground, &format!("flake.{}..kept-words", ADA.id))
}

fn folders(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-folders", &["--mutable", "--share", "cwd"])?;
    for text in ["one", "two"] {
        let folder = ground.directory()?;
        fs::write(folder.join("file"), text)?;
        let mut command = ADA.command(&app);
        command.args(["sh", "-c", "cat file; echo made > new"]).current_dir(&folder);
        said(&Call::new(command).run()?, text)?;
        let made = folder.join("new");
        ensure!(fs::read_to_string(&made)? == "made\n" && fs::metadata(&made)?.uid() == ADA.id);
    }
    ensure!(ground.made("kept-folders")? == 1);
    end(ground, &format!("flake.{}..kept-folders", ADA.id))
}

fn apart(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-apart", OPTIONS)?;
    said(&call(&ADA, &app, &["sh", "-c", "echo adas > /file"])?, "")?;
    said(&call(&ROOT, &app, &["sh", "-c", "test ! -e /file"])?, "")?;
    ensure!(ground.made("kept-apart")? == 2);
    for user in [ADA.id, 0] {
        end(ground, &format!("flake.{user}..kept-apart"))?;
    }
    // The sockets are root's.
    let folder = fs::metadata("/run/flakes")?;
    ensure!(folder.uid() == 0 && folder.mode() & 0o777 == 0o700, "{folder:?}");
    Ok(())
}

fn in_use(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-used", OPTIONS)?;
    let mut command = ADA.command(&app);
    command.args(["sh", "-c", "echo up; read line; echo $line"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut running = command.spawn()?;
    let mut out = running.stdout.take().map(std::io::BufReader::new);
    let mut line = String::new();
    if let Some(out) = &mut out {
        std::io::BufRead::read_line(out, &mut line)?;
    }
    ensure!(line == "up\n");
    refused(&call(&ADA, &app, &["flake", "remove=kept-used"])?, "in use")?;
    drop(running.stdin.take());
    ensure!(running.wait()?.success());
    said(&call(&ADA, &app, &["flake", "remove=kept-used"])?, "")?;
    ensure!(container(ground, &format!("flake.{}..kept-used", ADA.id))?.is_empty());
    Ok(())
}

fn killed(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-killed", OPTIONS)?;
    said(&call(&ADA, &app, &["sh", "-c", "echo data > /file"])?, "")?;
    let name = format!("flake.{}..kept-killed", ADA.id);
    ground.host.podman(&ROOT, ["kill", &name]).check()?;
    said(&call(&ADA, &app, &["cat", "/file"])?, "data\n")?;
    end(ground, &name)?;
    said(&call(&ADA, &app, &["sh", "-c", "test ! -e /file"])?, "")?;
    end(ground, &name)
}

fn chosen(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-chosen", OPTIONS)?;
    for name in ["a", "b"] {
        said(&call(&ADA, &app, &[&format!("@{name}"), "sh", "-c", &format!("echo {name} >/who")])?, "")?;
    }
    let terminal =
        Subject { app, ..Subject::control(&ADA) }.terminal("\"$APP\" cat /who; echo \"status $?\"")?;
    terminal.expect("  1: a\r\n  2: b\r\nNumber: ")?;
    terminal.send("2\r")?;
    terminal.expect("2\r\nb\r\nstatus 0\r\n")?;
    terminal.end()?;
    for name in ["a", "b"] {
        end(ground, &format!("flake.{}..kept-chosen..{name}", ADA.id))?;
    }
    Ok(())
}

fn told(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-told", OPTIONS)?;
    let layers = Path::new("/usr/share/flakes/kept-told.d");
    fs::create_dir_all(layers)?;
    fs::write(layers.join("50.yaml"), "provision:\n- script: |\n    #!/bin/sh\n    echo from the script\n")?;
    let outcome = call(&ADA, &app, &["%progress", "echo", "word"])?;
    ensure!(
        outcome.out() == "word\n" && outcome.err() == "kept-told: provision[0]: from the script\n",
        "{outcome}"
    );
    end(ground, &format!("flake.{}..kept-told", ADA.id))
}
