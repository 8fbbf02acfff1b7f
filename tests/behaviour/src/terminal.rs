//! The app in a terminal: what it sees, what it shows, and what it leaves.
//!
//! Where nothing depends on timing, everything the terminal showed is compared with the control, byte for
//! byte.

use anyhow::{Result, ensure};

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "all_three_are_the_terminal", run: all_three },
    Case { name: "prompt_without_newline", run: prompt },
    Case { name: "shell_prompt", run: shell },
    Case { name: "window_size", run: size },
    Case { name: "window_resized", run: resized },
    Case { name: "dev_tty_when_nothing_else_is_the_terminal_any_more", run: reopened },
    Case { name: "dev_tty", run: dev_tty },
    Case { name: "stdin_pipe_with_terminal_stdout", run: pipe_in },
    Case { name: "terminal_stdin_with_stdout_pipe", run: pipe_out },
    Case { name: "only_stderr_is_the_terminal", run: only_stderr },
    Case { name: "seq_99_to_less", run: less },
    Case { name: "long_output_is_complete", run: long_output },
    Case { name: "exit_status_in_a_terminal", run: status },
    Case { name: "words_typed_ahead_are_not_lost", run: typed_ahead },
    Case { name: "mode_restored_after_exit", run: mode_after_exit },
    Case { name: "output_of_a_command_before_and_after", run: before_and_after },
];

/// Runs `script` in a terminal to its end; what it showed is the control's too.
fn same_screen(scene: &Scene<'_>, script: &str) -> Result<String> {
    let ended = scene.same(|subject| Ok(subject.terminal(script)?.end()?))?;
    ensure!(ended.code == Some(0), "{ended:?}");
    Ok(ended.seen)
}

fn all_three(scene: &Scene<'_>) -> Result<()> {
    let app = "for fd in 0 1 2; do test -t $fd && echo $fd; done; echo error >&2";
    let seen = same_screen(scene, &format!(r#""$APP" sh -c '{app}'"#))?;
    ensure!(seen == r"0\r\n1\r\n2\r\nerror\r\n", "{seen}");
    Ok(())
}

fn prompt(scene: &Scene<'_>) -> Result<()> {
    let seen = scene.same(|subject| {
        let terminal = subject.terminal(r#""$APP" sh -c 'printf "name? "; read -r x; echo "hello $x"'"#)?;
        terminal.expect("name? ")?;
        terminal.send("ada\r")?;
        terminal.expect("hello ada\r\n")?;
        Ok(terminal.end()?)
    })?;
    ensure!(seen.seen == r"name? ada\r\nhello ada\r\n", "{seen:?}");
    Ok(())
}

fn shell(scene: &Scene<'_>) -> Result<()> {
    let ended = scene.same(|subject| {
        let terminal = subject.terminal(r#""$APP" env PS1='app> ' /bin/busybox sh -i"#)?;
        terminal.expect("app> ")?;
        terminal.send("echo $((6 * 7))\r")?;
        terminal.expect("\r\n42\r\n")?;
        terminal.expect("app> ")?;
        terminal.send("exit 5\r")?;
        Ok(terminal.end()?.code)
    })?;
    ensure!(ended == Some(5), "{ended:?}");
    Ok(())
}

fn size(scene: &Scene<'_>) -> Result<()> {
    let seen = same_screen(scene, r#""$APP" stty size"#)?;
    ensure!(seen == r"24 80\r\n", "{seen}");
    Ok(())
}

fn resized(scene: &Scene<'_>) -> Result<()> {
    let script = r#""$APP" sh -c 'trap "stty size" WINCH; echo ready; until [ "$(stty size)" = "50 132" ]; do sleep 0.1; done; echo done'"#;
    scene.same(|subject| {
        let terminal = subject.terminal(script)?;
        terminal.expect("ready\r\n")?;
        terminal.resize(37, 91)?;
        terminal.expect("37 91\r\n")?;
        terminal.resize(50, 132)?;
        terminal.expect("50 132\r\n")?;
        terminal.expect("done\r\n")?;
        Ok(terminal.end()?.code)
    })?;
    Ok(())
}

/// As a program does that asks for a password: it ignores its standard input.
fn dev_tty(scene: &Scene<'_>) -> Result<()> {
    let app = r#"printf "secret: " >/dev/tty; read -r x </dev/tty; echo "got $x""#;
    let seen = scene.same(|subject| {
        let terminal = subject.terminal(&format!(r#""$APP" sh -c '{app}' </dev/null"#))?;
        terminal.expect("secret: ")?;
        terminal.send("word\r")?;
        Ok(terminal.end()?)
    })?;
    ensure!(seen.seen == r"secret: word\r\ngot word\r\n", "{seen:?}");
    Ok(())
}

fn pipe_in(scene: &Scene<'_>) -> Result<()> {
    let app = "cat; test -t 0 || echo pipe; test -t 1 && echo terminal";
    let seen = same_screen(scene, &format!(r#"printf 'one\ntwo\n' | "$APP" sh -c '{app}'"#))?;
    ensure!(seen == r"one\r\ntwo\r\npipe\r\nterminal\r\n", "{seen}");
    Ok(())
}

/// The pipe is exact: no carriage returns get into it. The screen shows what was typed once.
fn pipe_out(scene: &Scene<'_>) -> Result<()> {
    let app = r#"test -t 0 && echo terminal; echo ready >&2; cat"#;
    let seen = scene.same(|subject| {
        let terminal = subject.terminal(&format!(r#""$APP" sh -c '{app}' | od -An -c"#))?;
        terminal.expect("ready\r\n")?;
        terminal.send("ab\r")?;
        terminal.expect("ab\r\n")?;
        terminal.send("\x04")?;
        Ok(terminal.end()?)
    })?;
    ensure!(seen.seen.contains(r"t   e   r   m   i   n   a   l  \\n   a   b  \\n"), "{seen:?}");
    Ok(())
}

fn only_stderr(scene: &Scene<'_>) -> Result<()> {
    let app = "echo out; echo err >&2; test -t 1 || echo pipe; test -t 2 && echo terminal";
    let seen = same_screen(scene, &format!(r#"x=$("$APP" sh -c '{app}' </dev/null); echo "($x)""#))?;
    ensure!(seen == r"err\r\n(out\r\npipe\r\nterminal)\r\n", "{seen}");
    Ok(())
}

fn less(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let terminal = subject.terminal(r#"seq 99 | "$APP" less; echo "status $?""#)?;
        terminal.expect("1\r\n")?;
        terminal.expect("23")?;
        terminal.send(" ")?;
        terminal.expect("46")?;
        terminal.send("G")?;
        terminal.expect("99")?;
        terminal.send("q")?;
        terminal.expect("status 0\r\n")?;
        Ok(terminal.end()?.code)
    })?;
    Ok(())
}

fn long_output(scene: &Scene<'_>) -> Result<()> {
    let seen = same_screen(scene, r#""$APP" seq 20000; echo end"#)?;
    ensure!(seen.ends_with(r"\r\n20000\r\nend\r\n"), "{}", &seen[seen.len().saturating_sub(200)..]);
    Ok(())
}

fn status(scene: &Scene<'_>) -> Result<()> {
    let seen = same_screen(scene, r#""$APP" sh -c 'exit 42'; echo "status $?""#)?;
    ensure!(seen == r"status 42\r\n", "{seen}");
    Ok(())
}

/// Whether they show once or twice is a matter of timing, on any system.
fn typed_ahead(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let terminal = subject.terminal(r#""$APP" sh -c 'read -r x; read -r y; echo "got $x, $y"'"#)?;
        terminal.send("early\rbird\r")?;
        terminal.expect("got early, bird\r\n")?;
        Ok(terminal.end()?.code)
    })?;
    Ok(())
}

fn mode_after_exit(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let terminal = subject.terminal(r#""$APP" sh -c 'read -r x; echo $x'; echo after; read -r x"#)?;
        let before = terminal.modes()?;
        terminal.send("word\r")?;
        terminal.expect("after\r\n")?;
        let after = terminal.modes()?;
        ensure!(before == after, "before {before}\nafter {after}");
        terminal.send("\r")?;
        Ok(terminal.end()?.code)
    })?;
    Ok(())
}

fn before_and_after(scene: &Scene<'_>) -> Result<()> {
    let script = r#"printf 'a\n'; "$APP" printf 'b\n'; printf 'c\n'; "$APP" printf d; printf 'e\n'"#;
    let seen = same_screen(scene, script)?;
    ensure!(seen == r"a\r\nb\r\nc\r\nde\r\n", "{seen}");
    Ok(())
}

fn reopened(scene: &Scene<'_>) -> Result<()> {
    // The shell outside keeps it open.
    let script =
        r#""$APP" sh -c 'exec </dev/null >/dev/null 2>&1; sleep 0.3; echo again >/dev/tty'; echo end"#;
    let seen = same_screen(scene, script)?;
    ensure!(seen == r"again\r\nend\r\n", "{seen}");
    Ok(())
}
