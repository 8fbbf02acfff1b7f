//! Keys that mean something, and the end of the terminal.

use anyhow::{Result, ensure};
use flake_testkit::processes::{self, Process};
use flake_testkit::until;

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "ctrl_c_reaches_the_app", run: interrupt_trapped },
    Case { name: "ctrl_c_ends_the_app", run: interrupt },
    Case {
        name: "ctrl_c_ends_a_pipeline",
        run: |scene| pipeline(scene, r#""$APP" sleep MARK | sleep MARK"#),
    },
    Case {
        name: "ctrl_c_ends_a_pipeline_into_the_app",
        run: |scene| pipeline(scene, r#"sleep MARK | "$APP" sleep MARK"#),
    },
    Case {
        name: "ctrl_c_ends_a_loop",
        run: |scene| pipeline(scene, r#"while :; do "$APP" sleep MARK; done"#),
    },
    Case { name: "ctrl_backslash_quits_the_app", run: quit },
    Case { name: "ctrl_d_ends_the_input", run: end_of_input },
    Case { name: "a_key_without_enter", run: single_key },
    Case { name: "mode_restored_after_ctrl_c", run: mode_after_interrupt },
    Case { name: "a_signal_like_a_key_before_it", run: signal_after_key },
    Case { name: "hang_up_ends_the_app", run: hang_up },
    Case { name: "hang_up_ends_the_input_of_an_app_that_ignores_it", run: hang_up_ignored },
    Case { name: "ctrl_c_without_an_open_terminal", run: closed_terminal },
    Case { name: "ctrl_c_of_a_job_inside_stays_inside", run: job_inside },
];

fn interrupt_trapped(scene: &Scene<'_>) -> Result<()> {
    let app = r#"trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.1; done"#;
    let ended = scene.same(|subject| {
        let terminal = subject.terminal(&format!(r#"trap : INT; "$APP" sh -c '{app}'; echo "status $?""#))?;
        terminal.expect("ready\r\n")?;
        terminal.send("\x03")?;
        Ok(terminal.end()?)
    })?;
    ensure!(ended.seen == r"ready\r\n^Ccaught\r\nstatus 7\r\n", "{ended:?}");
    Ok(())
}

fn interrupt(scene: &Scene<'_>) -> Result<()> {
    let ended = after_key(scene, r#"exec "$APP" sh -c "echo ready; exec sleep MARK""#, "\x03")?;
    ensure!(ended == (None, Some(2)), "{ended:?}");
    Ok(())
}

/// A shell script is as interrupted as with a native command in it: it goes too.
fn pipeline(scene: &Scene<'_>, script: &str) -> Result<()> {
    let script = script.replace(r#""$APP" sleep MARK"#, r#""$APP" sh -c "echo ready >&2; exec sleep MARK""#);
    let ended = after_key(scene, &script, "\x03")?;
    ensure!(ended == (None, Some(2)), "{ended:?}");
    Ok(())
}

/// No shell in between: ash does not die of SIGQUIT.
fn quit(scene: &Scene<'_>) -> Result<()> {
    let ended = scene.same(|subject| {
        let mark = scene.host.mark();
        let terminal = subject.terminal(&format!(r#"ulimit -c 0; exec "$APP" sleep {mark}"#))?;
        let asleep = |process: &Process| process.line.starts_with("/bin/busybox sleep");
        let running = || processes::marked(&mark).iter().any(asleep).then_some(());
        until("the app", running, || terminal.seen())?;
        terminal.send("\x1c")?;
        let ended = terminal.end()?;
        processes::until_gone(&mark)?;
        Ok((ended.code, ended.signal))
    })?;
    ensure!(ended == (None, Some(3)), "{ended:?}");
    Ok(())
}

/// The exit status and the signal. What the terminal showed last is no part of it: with the session's leader
/// gone, not even the `^C` is sure to be seen.
type Status = (Option<i32>, Option<i32>);

/// Types `key` when `script` says that it is ready; all that had MARK on its command line is gone afterwards.
fn after_key(scene: &Scene<'_>, script: &str, key: &str) -> Result<Status> {
    scene.same(|subject| {
        let mark = scene.host.mark();
        let terminal = subject.terminal(&script.replace("MARK", &mark))?;
        terminal.expect("ready\r\n")?;
        terminal.send(key)?;
        let ended = terminal.end()?;
        processes::until_gone(&mark)?;
        Ok((ended.code, ended.signal))
    })
}

fn end_of_input(scene: &Scene<'_>) -> Result<()> {
    let ended = scene.same(|subject| {
        let terminal = subject.terminal(r#""$APP" sh -c 'echo ready; cat; echo end'"#)?;
        terminal.expect("ready\r\n")?;
        terminal.send("word\r")?;
        terminal.expect("word\r\nword\r\n")?;
        terminal.send("\x04")?;
        Ok(terminal.end()?)
    })?;
    ensure!(ended.seen == r"ready\r\nword\r\nword\r\nend\r\n", "{ended:?}");
    Ok(())
}

/// As an editor reads keys.
fn single_key(scene: &Scene<'_>) -> Result<()> {
    let app =
        "stty -icanon -echo; printf key?; x=$(dd bs=1 count=1 2>/dev/null); stty icanon echo; echo got $x";
    let ended = scene.same(|subject| {
        let terminal = subject.terminal(&format!(r#""$APP" sh -c '{app}'"#))?;
        terminal.expect("key?")?;
        terminal.send("k")?;
        Ok(terminal.end()?)
    })?;
    ensure!(ended.seen == r"key?got k\r\n", "{ended:?}");
    Ok(())
}

fn mode_after_interrupt(scene: &Scene<'_>) -> Result<()> {
    let script = r#"trap : INT; "$APP" sh -c "echo ready; exec sleep MARK"; echo after; read -r x"#;
    scene.same(|subject| {
        let terminal = subject.terminal(&script.replace("MARK", &scene.host.mark()))?;
        let before = terminal.modes()?;
        terminal.expect("ready\r\n")?;
        terminal.send("\x03")?;
        terminal.expect("after\r\n")?;
        let after = terminal.modes()?;
        ensure!(before == after, "before {before}\nafter {after}");
        terminal.send("\r")?;
        Ok(terminal.end()?.code)
    })?;
    Ok(())
}

/// As when a terminal window is closed, for the app alone and for one that a shell waits for.
fn hang_up(scene: &Scene<'_>) -> Result<()> {
    for script in [
        r#"exec "$APP" sh -c "echo ready; exec sleep MARK""#,
        r#""$APP" sh -c "echo ready; exec sleep MARK"; true"#,
    ] {
        scene.same(|subject| {
            let mark = scene.host.mark();
            let terminal = subject.terminal(&script.replace("MARK", &mark))?;
            terminal.expect("ready\r\n")?;
            terminal.hang_up()?;
            Ok(processes::until_gone(&mark)?)
        })?;
    }
    Ok(())
}

/// It ignores the signal, but it cannot read any more.
fn hang_up_ignored(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let mark = scene.host.mark();
        let app = format!("trap : HUP; echo ready; while read -r x; do :; done; : {mark}");
        let terminal = subject.terminal(&format!(r#"exec "$APP" sh -c '{app}'"#))?;
        terminal.expect("ready\r\n")?;
        terminal.hang_up()?;
        Ok(processes::until_gone(&mark)?)
    })
}

/// The terminal is the app's, whether the app has it open or not.
fn closed_terminal(scene: &Scene<'_>) -> Result<()> {
    let app = r#"echo ready; exec </dev/null >/dev/null 2>&1; exec sleep MARK"#;
    let ended = after_key(scene, &format!(r#"exec "$APP" sh -c "{app}""#), "\x03")?;
    ensure!(ended == (None, Some(2)), "{ended:?}");
    Ok(())
}

/// A shell inside has given the terminal to its own job: whoever waits for the app outside is not meant.
fn job_inside(scene: &Scene<'_>) -> Result<()> {
    let ended = scene.same(|subject| {
        let mark = scene.host.mark();
        let terminal =
            subject.terminal(r#"trap 'echo outside' INT; PS1='in> ' "$APP" sh -i; echo "status $?""#)?;
        // The prompt of the app's own environment, which does not let PS1 through.
        terminal.send(&format!("sleep {mark}\r"))?;
        let asleep = |process: &Process| process.line == format!("sleep {mark}");
        let running = || processes::marked(&mark).iter().any(asleep).then_some(());
        until("the job inside", running, || terminal.seen())?;
        terminal.send("\x03")?;
        processes::until_gone(&mark)?;
        terminal.send("exit 4\r")?;
        let ended = terminal.end()?;
        Ok((ended.code, ended.seen.contains("outside"), ended.seen.contains("status 4")))
    })?;
    ensure!(ended == (Some(0), false, true), "{ended:?}");
    Ok(())
}

/// A key, and later the same signal from somewhere else: the app gets both.
fn signal_after_key(scene: &Scene<'_>) -> Result<()> {
    let ended = scene.same(|subject| {
        let (flag, up) = (scene.fresh_path(), scene.fresh_path());
        let wait_for = |path: &std::path::Path| format!("until test -e {}; do sleep 0.05; done", path.display());
        let later = format!("trap '' INT; touch {}; {}; kill -INT $$", up.display(), wait_for(&flag));
        let app = r#"n=0; trap "n=\$((n+1)); echo caught \$n" INT; echo ready; while test $n != 2; do sleep 0.05; done; true"#;
        let terminal = subject.terminal(&format!(
            r#"({later}) & {}; exec "$APP" sh -c '{app}'"#,
            wait_for(&up)
        ))?;
        terminal.expect("ready\r\n")?;
        terminal.send("\x03")?;
        terminal.expect("caught 1\r\n")?;
        std::fs::write(&flag, "")?;
        Ok(terminal.end()?)
    })?;
    ensure!(ended.seen.ends_with(r"caught 2\r\n") && ended.code == Some(0), "{ended:?}");
    Ok(())
}
