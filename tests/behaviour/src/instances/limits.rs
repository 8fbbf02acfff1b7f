//! How many instances there may be, what makes none, and the launcher's options of a call.

use anyhow::{Result, ensure};
use flake_testkit::{Call, ROOT};
use std::fs;
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::time::Duration;

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_away", &["--mutable"], removed),
    ("i_away_not", &["--mutable"], not_removed),
    ("i_progress", &["--mutable"], progress),
    ("i_forced", &["--mutable"], forced),
    ("i_untraced", &[], untraced),
    ("i_rm", &["--mutable"], packaging),
];

/// These say how many a user may have.
pub(super) const ALONE: &[Case] = &[("i_most", &["--mutable"], most)];

const DAY: Duration = Duration::from_secs(24 * 3600);

fn removed(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["%remove", "echo", "word"], "word\n")?;
    ground.has(&[])?;
    ground.prints(&["@x", "touch", "/data"], "")?;
    let outcome = ground.call(&["%remove", "@x", "sh", "-c", "ls /data; exit 42"])?;
    ensure!(outcome.code == Some(42) && outcome.out() == "/data\n" && outcome.stderr.is_empty(), "{outcome}");
    ground.has(&[])?;
    let outcome = ground.call(&["@x", "%remove", "sh", "-c", "kill -9 $$"])?;
    ensure!(outcome.signal == Some(9), "{outcome}");
    ground.has(&[])?;
    let shown = ground.shown("\"$APP\" %remove sh -c 'test -t 0 && echo terminal'")?;
    ensure!(shown == "terminal\\r\\n", "{shown}");
    ground.has(&[])?;
    let left = fs::read_dir(ground.notes())?.flatten().filter(|entry| entry.file_name() != ".locks").count();
    ensure!(left == 0, "{left} notes are left");
    Ok(())
}

/// What others run in it goes on, and the status is the application's own.
fn not_removed(ground: &Ground<'_>) -> Result<()> {
    let running = ground.running(&["@x"])?;
    let outcome = ground.call(&["%remove", "@x", "sh", "-c", "exit 42"])?;
    ensure!(outcome.code == Some(42) && outcome.stdout.is_empty(), "{outcome}");
    ground.has(&["x"])?;
    let ended = running.end()?;
    ensure!(ended.success(), "{ended}");
    ground.prints(&["%remove", "@x", "true"], "")?;
    ground.has(&[])
}

/// What takes a while is said on a terminal, and else on request; a call that finds all in place says nothing.
fn progress(ground: &Ground<'_>) -> Result<()> {
    ground.layer("provision:\n- script: echo from the script\n")?;
    let outcome = ground.call(&["%progress", "echo", "word"])?;
    ensure!(
        outcome.out() == "word\n" && outcome.err() == "i_progress: provision[0]: from the script\n",
        "{outcome}"
    );
    let outcome = ground.call(&["%progress", "echo", "word"])?;
    ensure!(outcome.out() == "word\n" && outcome.stderr.is_empty(), "{outcome}");
    let shown = ground.shown("\"$APP\" @x echo word; \"$APP\" @x echo again")?;
    ensure!(shown == "i_progress: provision[0]: from the script\\r\\nword\\r\\nagain\\r\\n", "{shown}");
    ground.prints(&["@y", "echo", "word"], "word\n")
}

/// A terminal where the call has none, in a new instance and in one that is there.
fn forced(ground: &Ground<'_>) -> Result<()> {
    for _ in 0..2 {
        let outcome = ground.call(&["%interactive", "sh", "-c", "test -t 0 -a -t 1 -a -t 2 && stty size"])?;
        ensure!(outcome.success() && outcome.out() == "24 80\r\n" && outcome.stderr.is_empty(), "{outcome}");
    }
    ground.prints(&["sh", "-c", "test ! -t 1"], "")
}

/// The settings that say how many instances there may be.
fn settings(ground: &Ground<'_>) -> PathBuf {
    match ground.way.keeper.id {
        0 => "/etc/flakes.yml".into(),
        _ => ground.way.keeper.home().join(".config/flakes.yml"),
    }
}

fn most(ground: &Ground<'_>) -> Result<()> {
    let settings = settings(ground);
    if let Some(folder) = settings.parent().filter(|folder| !folder.exists()) {
        fs::create_dir(folder)?;
        chown(folder, Some(ground.way.keeper.id), Some(ground.way.keeper.id))?;
    }
    fs::write(&settings, "instances-per-user: 1\ninstances-timeout: 60 d\n")?;
    let result = limited(ground);
    fs::remove_file(&settings)?;
    result
}

fn limited(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["touch", "/data"], "")?;
    ground.idle("i_most", DAY)?;
    ground.refuses(
        &["@b", "true"],
        &format!(
            "1 instance is kept, and instances-per-user allows 1; what could go, the longest idle first:\n  i_most  \
             idle for 1 day\nhint: {} i_most",
            ground.rm()
        ),
    )?;
    ground.prints(&["@i_most", "ls", "/data"], "/data\n")?;
    ground.idle("i_most", 61 * DAY)?;
    // Whoever calls it first has it.
    ground.prints(&["ls", "/data"], "/data\n")?;
    ground.idle("i_most", 61 * DAY)?;
    let running = ground.running(&[])?;
    ground.idle("i_most", 61 * DAY)?;
    let outcome = ground.call(&["@b", "true"])?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("all are in use"), "{outcome}");
    ensure!(running.end()?.success());
    ground.idle("i_most", 61 * DAY)?;
    let shown = ground.shown("\"$APP\" @b echo word")?;
    ensure!(shown == "i_most: i_most was not used for long and is removed\\r\\nword\\r\\n", "{shown}");
    ground.has(&["b"])?;
    // To make one anew takes no more room.
    ground.stop("b")?;
    ground.podman(["rm", &ground.container("b")])?;
    ground.prints(&["@b", "true"], "")?;
    ground.has(&["b"])
}

/// A launch that keeps nothing does not look at what is kept.
fn untraced(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["true"], "")?;
    let traced = |ground: &Ground<'_>| -> Result<String> {
        let log = format!("/tmp/{}-{}.strace", ground.name, ground.user().id);
        let mut command = ROOT.command("/usr/bin/strace");
        command
            .args(["-f", "-o", &log, "-e", "trace=file", "-u", ground.user().name])
            .arg(&ground.subject.app);
        command.arg("true").current_dir(ground.user().home());
        command.env("HOME", ground.user().home());
        if let Some(runtime) = ground.user().runtime_dir() {
            command.env("XDG_RUNTIME_DIR", runtime);
        }
        Call::new(command).check()?;
        let text = fs::read_to_string(&log)?;
        fs::remove_file(&log)?;
        Ok(text)
    };
    if !PathBuf::from("/usr/bin/strace").exists() {
        return Ok(());
    }
    let text = traced(ground)?;
    ensure!(text.contains("i_untraced.yaml"), "not the launcher: {text}");
    ensure!(!text.contains("instances"), "{text}");
    Ok(())
}

/// F-64, word for word.
fn packaging(ground: &Ground<'_>) -> Result<()> {
    ground.layer("container: {runtime: {podman: [--rm]}}\n")?;
    let outcome = ground.call(&["true"])?;
    ensure!(
        outcome.code == Some(125)
            && outcome.err().contains(
                "Packaging error: Flake is mutable, but you ask to remove its instance on finish. Either define it \
                 immutable or do not explicitly remove it."
            ),
        "{outcome}"
    );
    ground.has(&[])?;
    ground.layer("container: {runtime: {podman: [\"--rm=false\"]}}\n")?;
    ground.prints(&["echo", "word"], "word\n")
}
