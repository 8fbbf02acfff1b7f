//! Several instances, and none is named.

use anyhow::{Result, ensure};

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] =
    &[("i_asked", &["--mutable"], asked), ("i_unasked", &["--mutable"], unasked)];

/// F-70, word for word.
const QUESTION: &str = "Multiple Flake instances detected. Which one to re-attach?\r\n";

fn two(ground: &Ground<'_>) -> Result<()> {
    for name in ["a", "b"] {
        ground.prints(&[&format!("@{name}"), "sh", "-c", &format!("echo {name} >/who")], "")?;
    }
    Ok(())
}

fn asked(ground: &Ground<'_>) -> Result<()> {
    two(ground)?;
    for (answer, who) in [("2", "b"), ("1", "a"), ("b", "b"), ("@a", "a")] {
        let terminal = ground.terminal("\"$APP\" cat /who; echo \"status $?\"")?;
        terminal.expect(QUESTION)?;
        terminal.expect("  1: a\r\n  2: b\r\nNumber: ")?;
        terminal.send(&format!("{answer}\r"))?;
        terminal.expect(&format!("{answer}\r\n{who}\r\nstatus 0\r\n"))?;
        terminal.end()?;
    }
    for answer in ["0", "3", "", "c", "-1"] {
        let terminal = ground.terminal("\"$APP\" cat /who; echo \"status $?\"")?;
        terminal.expect("Number: ")?;
        terminal.send(&format!("{answer}\r"))?;
        terminal.expect("i_asked: no instance was chosen\r\nstatus 125\r\n")?;
        terminal.end()?;
    }
    // What is typed behind the answer is the application's.
    let terminal = ground.terminal("\"$APP\" sh -c 'read x; echo \"got $x\"'")?;
    terminal.expect("Number: ")?;
    terminal.send("1\rword\r")?;
    terminal.expect("got word\r\n")?;
    terminal.end()?;
    let terminal = ground.terminal("trap : INT; \"$APP\" cat /who; echo \"status $?\"")?;
    terminal.expect("Number: ")?;
    terminal.send("\x03")?;
    terminal.expect("status 130\r\n")?;
    terminal.end()?;
    // Also for what is not run there.
    let terminal = ground.terminal("\"$APP\" flake update; echo \"status $?\"")?;
    terminal.expect("Number: ")?;
    terminal.send("1\r")?;
    terminal.expect("All data in instance a of i_asked will be lost. Make it anew? [y/N] ")?;
    terminal.send("\r")?;
    terminal.expect("status 1\r\n")?;
    terminal.end()?;
    ground.has(&["a", "b"])
}

fn unasked(ground: &Ground<'_>) -> Result<()> {
    two(ground)?;
    let text = "there are several instances: a, b; name one, as in: i_unasked @a";
    for words in [&["cat", "/who"][..], &["flake", "args", "cat", "/who"], &["flake", "update"]] {
        ground.refuses(words, text)?;
    }
    // The input is the application's, so nobody can be asked there.
    let shown = ground.shown("echo 1 | \"$APP\" cat /who; test $? = 125")?;
    ensure!(shown == format!("i_unasked: {text}\\r\\n"), "{shown}");
    ground.has(&["a", "b"])
}
