//! Provisioning scripts, through calls.

use anyhow::{Result, ensure};
use flake_testkit::processes;
use std::fs;

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_order", &["--mutable", "--as-caller"], order),
    ("i_when", &["--mutable"], when),
    ("i_words", &["--mutable"], words),
    ("i_fails", &["--mutable"], fails),
    ("i_fails_later", &["--mutable"], fails_later),
    ("i_late", &["--mutable"], late),
];

/// This one counts what others have, too.
pub(super) const ALONE: &[Case] = &[("i_stopped", &["--mutable"], stopped)];

/// All of root's come first, and each kind in its order.
fn order(ground: &Ground<'_>) -> Result<()> {
    ground.layer(
        "provision:\n\
         - {mode: user, script: 'echo user-0 `id -u` $HOME >>/tmp/log'}\n\
         - {script: 'umask; echo system-1 `id -u` $HOME >>/tmp/log; chmod 666 /tmp/log'}\n\
         - {mode: user, script: 'echo user-2 `id -u` `id -un` >>/tmp/log'}\n\
         - {mode: system, script: 'echo system-3 >>/tmp/log'}\n",
    )?;
    let user = ground.user();
    let (id, home) = (user.id, user.home().display().to_string());
    let expected = format!("system-1 0 /root\nsystem-3\nuser-0 {id} {home}\nuser-2 {id} {}\n", user.name);
    ground.prints(&["cat", "/tmp/log"], &expected)?;
    // A second call runs none of them.
    ground.prints(&["cat", "/tmp/log"], &expected)
}

fn when(ground: &Ground<'_>) -> Result<()> {
    let layer = |change: &str| {
        ground.layer(&format!(
            "provision:\n\
             - {{run: once, script: 'echo once >>/log'}}\n\
             - {{run: start, script: 'echo start >>/log'}}\n\
             - {{run: change, script: 'echo {change} >>/log'}}\n"
        ))
    };
    layer("change")?;
    ground.prints(&["cat", "/log"], "once\nstart\nchange\n")?;
    ground.prints(&["sh", "-c", ">/log"], "")?;
    ground.stop("i_when")?;
    ground.prints(&["cat", "/log"], "start\n")?;
    layer("other")?;
    // What runs is not provisioned again.
    ground.prints(&["cat", "/log"], "start\n")?;
    ground.stop("i_when")?;
    ground.prints(&["cat", "/log"], "start\nstart\nother\n")?;
    ground.stop("i_when")?;
    ground.prints(&["cat", "/log"], "start\nstart\nother\nstart\n")?;
    // A note that is lost takes nothing from the data.
    fs::remove_file(ground.notes().join("i_when"))?;
    ground.prints(&["cat", "/log"], "start\nstart\nother\nstart\nstart\n")?;
    let terminal = ground.terminal("\"$APP\" flake update; echo \"status $?\"")?;
    terminal.expect("[y/N] ")?;
    terminal.send("y\r")?;
    terminal.expect("status 0\r\n")?;
    terminal.end()?;
    ground.prints(&["cat", "/log"], "once\nstart\nother\n")?;
    ground.prints(&["@x", "cat", "/log"], "once\nstart\nother\n")
}

/// Variables, interpreters, and signs that mean something elsewhere.
fn words(ground: &Ground<'_>) -> Result<()> {
    let long = "x".repeat(200_000);
    ground.layer(&format!(
        "param:\n  NAME: a b $c \"d\" %e\n\
         provision:\n\
         - script: printf '%s\\n' \"$PARAM_NAME\" >>/log\n\
         - script: |\n    #!/bin/awk -f\n    BEGIN {{ print \"awk / {{{{.x}}}} 100% # '\\\"\" >>\"/log\" }}\n\
         - script: |\n    #!/bin/sh -u\n    echo \"$0\" | grep -c . >>/log\n    echo $UNSET\n    : \n    true\n\
         - script: |\n    # {long}\n    echo long >>/log\n",
    ))?;
    let outcome = ground.call(&["true"])?;
    // With its own options: -u refuses what is unset.
    ensure!(
        outcome.code == Some(125) && outcome.err().contains("provision[2] (system) failed: exit status 2"),
        "{outcome}"
    );
    ground.has(&[])?;
    ground.layer(&format!(
        "param:\n  NAME: a b $c \"d\" %e\n\
         provision:\n\
         - script: printf '%s\\n' \"$PARAM_NAME\" >>/log\n\
         - script: |\n    #!/bin/awk -f\n    BEGIN {{ print \"awk / {{{{.x}}}} 100% # '\\\"\" >>\"/log\" }}\n\
         - script: |\n    # {long}\n    echo long >>/log\n",
    ))?;
    ground.prints(&["cat", "/log"], "a b $c \"d\" %e\nawk / {{.x}} 100% # '\"\nlong\n")?;
    // They are the scripts' alone.
    ground.prints(&["sh", "-c", "echo \"<$PARAM_NAME>\""], "<>\n")
}

fn fails(ground: &Ground<'_>) -> Result<()> {
    ground.layer(
        "provision:\n\
         - script: echo first\n\
         - script: |\n    seq 1 30\n    echo why >&2\n    exit 42\n\
         - script: touch /third\n",
    )?;
    for _ in 0..2 {
        let outcome = ground.call(&["true"])?;
        let said = outcome.err();
        ensure!(
            outcome.code == Some(125)
                && said
                    .starts_with("i_fails: provision[1] (system) failed: exit status 42; its last lines:\n")
                && said.ends_with("\n  29\n  30\n  why\n"),
            "{outcome}"
        );
        ground.has(&[])?;
        ensure!(!ground.notes().join("i_fails").exists(), "a note is left");
    }
    for (script, end) in [
        ("kill -9 $$", "killed by signal 9"),
        ("#!/bin/absent", "interpreter /bin/absent: not found"),
        ("cp /etc/does-not-exist /tmp", "exit status 1"),
    ] {
        ground.layer(&format!("provision:\n- script: |\n    {script}\n"))?;
        let outcome = ground.call(&["true"])?;
        ensure!(
            outcome.code == Some(125)
                && outcome.err().contains("provision[0] (system) failed: ")
                && outcome.err().contains(end),
            "{script}: {outcome}"
        );
        ground.has(&[])?;
    }
    ground.layer("provision:\n- {script: sleep 1000, timeout: 1s}\n")?;
    ground.refuses(&["true"], "provision[0] (system) failed: not done within 1s")?;
    ground.has(&[])?;
    ground.layer("provision:\n- script: touch /done\n")?;
    ground.prints(&["ls", "/done"], "/done\n")
}

/// What was made stays when it cannot be started: its data is there when the script is right.
fn fails_later(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["touch", "/data"], "")?;
    ground.stop("i_fails_later")?;
    ground.layer("provision:\n- {run: start, script: 'echo oops; exit 3'}\n")?;
    for _ in 0..2 {
        ground.refuses(
            &["ls", "/data"],
            "provision[0] (system) failed: exit status 3; its last lines:\n  oops",
        )?;
        ground.has(&["i_fails_later"])?;
    }
    ground.layer("provision:\n- {run: start, script: 'touch /started'}\n")?;
    ground.prints(&["ls", "/data", "/started"], "/data\n/started\n")
}

/// ^C while a script runs leaves nothing of it.
fn stopped(ground: &Ground<'_>) -> Result<()> {
    let mark = ground.host.mark();
    let sockets = || fs::read_dir(ground.sockets()).map_or(0, Iterator::count);
    let before = sockets();
    ground.layer(&format!("provision:\n- script: |\n    echo begins\n    sleep {mark}\n"))?;
    let terminal = ground.terminal("trap : INT; \"$APP\" echo word; echo \"status $?\"")?;
    terminal.expect("i_stopped: provision[0]: begins\r\n")?;
    terminal.send("\x03")?;
    terminal.expect("status 130\r\n")?;
    ensure!(!terminal.end()?.seen.contains("word"));
    ground.has(&[])?;
    processes::until_gone(&mark)?;
    ensure!(sockets() <= before, "{} sockets, {before} before", sockets());
    ensure!(!ground.notes().join("i_stopped").exists(), "a note is left");
    ground.layer("provision:\n- script: touch /done\n")?;
    ground.prints(&["ls", "/done"], "/done\n")?;
    ensure!(sockets() > 0, "{} sockets, {before} before", sockets());
    Ok(())
}

/// The mark on what is finished is made when all is, so that nobody enters half of it.
fn late(ground: &Ground<'_>) -> Result<()> {
    ground.layer("provision:\n- script: |\n    echo made >>/made\n    sleep 1\n    echo done >>/done\n")?;
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..5)
            .map(|_| scope.spawn(|| ground.prints(&["cat", "/made", "/done"], "made\ndone\n")))
            .collect();
        calls.into_iter().try_for_each(|call| call.join().unwrap_or_else(|_| anyhow::bail!("a panic")))
    })?;
    ground.has(&["i_late"])
}
