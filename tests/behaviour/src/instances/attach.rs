//! Terminals that join one running application.

use anyhow::{Result, ensure};
use flake_testkit::{Terminal, processes, until};

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_joined", &["--attach"], joined),
    ("i_window", &["--attach"], window),
    ("i_last", &["--attach"], last),
    ("i_statuses", &["--attach"], statuses),
    ("i_seatless", &["--attach"], seatless),
    ("i_by_ctl", &["--attach"], by_ctl),
];

/// The application as a shell, at a terminal.
fn shell(ground: &Ground<'_>, words: &str) -> Result<Terminal> {
    ground.terminal(&format!("\"$APP\" {words} env PS1='in> ' sh -i; echo \"status $?\""))
}

fn joined(ground: &Ground<'_>) -> Result<()> {
    let first = shell(ground, "")?;
    first.expect("in> ")?;
    first.send("echo one-$((1+1)); me=$$\r")?;
    first.expect("one-2\r\n")?;
    let second = ground.terminal("\"$APP\" echo not run; echo \"status $?\"")?;
    // What was shown before is shown to a newcomer.
    second.expect("one-2\r\n")?;
    second.send("echo two-$((1+1)) $((me - $$))\r")?;
    second.expect("two-2 0\r\n")?;
    first.expect("two-2 0\r\n")?;
    first.send("printf '%s' a-$((1+2))\r")?;
    first.expect("a-3")?;
    second.expect("a-3")?;
    ensure!(!second.seen().contains("not run"), "{}", second.seen());
    ground.has(&["i_joined"])?;
    // ^C is the application's, not that of one of the launchers.
    second.send("\rsleep 1000\r")?;
    first.expect("sleep 1000\r\n")?;
    first.send("\x03")?;
    second.expect("^C")?;
    second.expect("in> ")?;
    second.send("echo still-$((1+3))\r")?;
    first.expect("still-4\r\n")?;
    first.send("exit 42\r")?;
    for terminal in [first, second] {
        terminal.expect("status 42\r\n")?;
        terminal.end()?;
    }
    Ok(())
}

/// The smallest that joins decides, and only while it is there.
fn window(ground: &Ground<'_>) -> Result<()> {
    let size = |terminal: &Terminal, expected: &str| -> Result<()> {
        let shown = || {
            terminal.send("echo \"<`stty size`>\"\r").ok()?;
            std::thread::sleep(std::time::Duration::from_millis(100));
            terminal.seen().contains(&format!("<{expected}>")).then_some(())
        };
        Ok(until(&format!("the size {expected}"), shown, || terminal.seen())?)
    };
    let first = shell(ground, "")?;
    first.expect("in> ")?;
    size(&first, "24 80")?;
    let second = shell(ground, "")?;
    second.expect("in> ")?;
    second.resize(30, 70)?;
    size(&first, "24 70")?;
    first.resize(20, 100)?;
    size(&second, "20 70")?;
    second.hang_up()?;
    size(&first, "20 100")?;
    first.send("exit\r")?;
    first.end()?;
    Ok(())
}

/// The application goes on until the last terminal is gone.
fn last(ground: &Ground<'_>) -> Result<()> {
    let mark = ground.host.mark();
    let inside = || processes::marked(&mark).len();
    let first = ground.terminal(&format!("\"$APP\" sh -c 'echo up; sleep {mark}'"))?;
    first.expect("up\r\n")?;
    let second = ground.terminal("\"$APP\" sh")?;
    second.expect("up\r\n")?;
    first.hang_up()?;
    second.send("typed\r")?;
    second.expect("typed")?;
    ensure!(inside() > 0, "it went with the first terminal");
    second.hang_up()?;
    processes::until_gone(&mark)?;
    // The instance has stayed, and runs another one.
    let third = ground.terminal("\"$APP\" sh -c 'echo another; exit 3'; echo \"status $?\"")?;
    third.expect("another\r\nstatus 3\r\n")?;
    third.end()?;
    ground.has(&["i_last"])
}

fn statuses(ground: &Ground<'_>) -> Result<()> {
    ensure!(ground.shown("\"$APP\" sh -c 'touch /data; exit 7'; echo $?")? == "7\\r\\n");
    ensure!(ground.shown("\"$APP\" ls /data")? == "/data\\r\\n");
    let shown = ground.shown("trap : TERM; \"$APP\" sh -c 'kill -TERM $$'; echo $?")?;
    ensure!(shown.ends_with("143\\r\\n"), "{shown}");
    ground.stop("i_statuses")?;
    ensure!(ground.shown("\"$APP\" ls /data")? == "/data\\r\\n");
    let shown = ground.shown("\"$APP\" @x ls /data; echo $?")?;
    ensure!(shown.ends_with("1\\r\\n"), "{shown}");
    ground.has(&["i_statuses", "x"])
}

fn seatless(ground: &Ground<'_>) -> Result<()> {
    ground.refuses(
        &["echo", "word"],
        "joins a terminal that is shared, so it has to be called on one; see: man script",
    )?;
    for redirected in ["2>/dev/null", "</dev/null", "| cat"] {
        let shown =
            ground.shown(&format!("set -o pipefail; \"$APP\" echo word {redirected}; test $? = 125"))?;
        let expected = "i_seatless: joins a terminal that is shared, so neither its input nor its output can be \
                        redirected\\r\\n";
        ensure!(shown == expected || redirected.starts_with('2') && shown.is_empty(), "{shown}");
    }
    ground.has(&[])
}

/// `flake-ctl attach APP[@NAME]`.
fn by_ctl(ground: &Ground<'_>) -> Result<()> {
    if ground.way.is_lent() {
        let outcome = ground.host.flake_ctl(ground.user(), ["attach", "i_by_ctl"]).run()?;
        let expected = format!(
            "flake-ctl: i_by_ctl runs as root, and root has its instances\nhint: join it by a call: {}\n",
            ground.subject.app.display()
        );
        ensure!(!outcome.success() && outcome.err() == expected, "{outcome}");
        return Ok(());
    }
    for (words, name) in [("", ""), ("@x", "@x")] {
        let first = shell(ground, words)?;
        first.expect("in> ")?;
        first.send("echo one-$((1+1))\r")?;
        first.expect("one-2\r\n")?;
        let second = ground.terminal(&format!("flake-ctl attach i_by_ctl{name}; echo \"status $?\""))?;
        second.expect("one-2\r\n")?;
        second.send("echo two-$((1+1))\r")?;
        first.expect("two-2\r\n")?;
        second.send("exit 5\r")?;
        for terminal in [first, second] {
            terminal.expect("status 5\r\n")?;
            terminal.end()?;
        }
    }
    Ok(())
}
