//! The app as a job of an interactive shell.

use anyhow::{Result, ensure};
use flake_testkit::{Terminal, processes};

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "ctrl_z_and_fg", run: stop_and_resume },
    Case { name: "ctrl_z_twice", run: stop_twice },
    Case { name: "mode_restored_while_stopped", run: mode_while_stopped },
    Case { name: "a_stopped_pipeline", run: stopped_pipeline },
    Case { name: "a_stopped_job_killed", run: killed_while_stopped },
    Case { name: "background_output", run: background },
    Case { name: "ctrl_c_under_a_job_control_shell", run: interrupt },
];

/// Types `line`; what the shell echoes is passed over, so that it is not taken for an answer.
fn enter(shell: &Terminal, line: &str) -> Result<()> {
    shell.send(&format!("{line}\r"))?;
    Ok(shell.expect(&format!("{line}\r\n"))?)
}

fn leave(shell: Terminal) -> Result<Option<i32>> {
    shell.expect("host> ")?;
    shell.send("exit 3\r")?;
    Ok(shell.end()?.code)
}

/// Stops the foreground job; the shell is back, and every process of the job is really stopped.
fn stop(shell: &Terminal, mark: &str) -> Result<()> {
    shell.send("\x1a")?;
    shell.expect("Stopped")?;
    shell.expect("host> ")?;
    processes::until_state(mark, 'T')?;
    enter(shell, "echo $((6 * 7))")?;
    shell.expect("42\r\n")?;
    Ok(shell.expect("host> ")?)
}

fn reader(mark: &str) -> String {
    format!(r#""$APP" sh -c 'echo ready; while read -r x; do echo "got $x"; done' {mark}"#)
}

fn stop_and_resume(scene: &Scene<'_>) -> Result<()> {
    let code = scene.same(|subject| {
        let (mark, shell) = (scene.host.mark(), subject.shell()?);
        enter(&shell, &reader(&mark))?;
        shell.expect("ready\r\n")?;
        stop(&shell, &mark)?;
        shell.send("fg\r")?;
        shell.send("hello\r")?;
        shell.expect("got hello\r\n")?;
        shell.send("\x04")?;
        leave(shell)
    })?;
    ensure!(code == Some(3), "{code:?}");
    Ok(())
}

fn stop_twice(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let (mark, shell) = (scene.host.mark(), subject.shell()?);
        enter(&shell, &reader(&mark))?;
        shell.expect("ready\r\n")?;
        for word in ["one", "two", "three", "four"] {
            stop(&shell, &mark)?;
            shell.send("fg\r")?;
            shell.send(&format!("{word}\r"))?;
            shell.expect(&format!("got {word}\r\n"))?;
        }
        shell.send("\x04")?;
        leave(shell)
    })?;
    Ok(())
}

/// A stopped job leaves the terminal as the shell's next command expects it.
fn mode_while_stopped(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let (mark, shell) = (scene.host.mark(), subject.shell()?);
        let before = shell.modes()?;
        enter(&shell, &reader(&mark))?;
        shell.expect("ready\r\n")?;
        stop(&shell, &mark)?;
        let stopped = shell.modes()?;
        ensure!(before == stopped, "before {before}\nstopped {stopped}");
        shell.send("fg\r")?;
        shell.send("word\r")?;
        shell.expect("got word\r\n")?;
        shell.send("\x04")?;
        leave(shell)
    })?;
    Ok(())
}

fn stopped_pipeline(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let (mark, shell) = (scene.host.mark(), subject.shell()?);
        enter(&shell, &format!(r#""$APP" sh -c 'echo ready; read -r x; echo "got $x"' {mark} | cat"#))?;
        shell.expect("ready\r\n")?;
        stop(&shell, &mark)?;
        shell.send("fg\r")?;
        shell.send("word\r")?;
        shell.expect("got word\r\n")?;
        leave(shell)
    })?;
    Ok(())
}

fn killed_while_stopped(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let (mark, shell) = (scene.host.mark(), subject.shell()?);
        enter(&shell, &reader(&mark))?;
        shell.expect("ready\r\n")?;
        stop(&shell, &mark)?;
        enter(&shell, "kill %1; fg >/dev/null; echo back")?;
        shell.expect("back\r\n")?;
        processes::until_gone(&mark)?;
        leave(shell)
    })?;
    Ok(())
}

/// A job in the background may write to the terminal, and is not stopped for it.
fn background(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let shell = subject.shell()?;
        enter(&shell, r#""$APP" sh -c 'echo $((6 * 7))' & wait $!; echo "status $?""#)?;
        shell.expect("42\r\n")?;
        shell.expect("status 0\r\n")?;
        leave(shell)
    })?;
    Ok(())
}

fn interrupt(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let (mark, shell) = (scene.host.mark(), subject.shell()?);
        enter(&shell, &format!(r#""$APP" sh -c "echo ready; exec sleep {mark}""#))?;
        shell.expect("ready\r\n")?;
        shell.send("\x03")?;
        shell.expect("host> ")?;
        enter(&shell, "echo status $?")?;
        shell.expect("status 130\r\n")?;
        processes::until_gone(&mark)?;
        leave(shell)
    })?;
    Ok(())
}
