//! The behaviour suite for a flake of root that a normal user calls.

use std::sync::{Arc, OnceLock};

use anyhow::{Result, anyhow, ensure};
use flake_testkit::processes::{self, Process};
use flake_testkit::{ADA, ROOT, ScratchHost, Subject, Terminal, trial, until};
use libtest_mimic::{Completion, Trial};

use crate::scene::{Case, Scene};

const NAME: &str = "elevated";

/// Cases that cannot hold across sudo, each with the reason.
const EXCEPT: [(&str, &str); 2] = [
    (
        "stdin_is_read_no_further_than_the_app_does",
        "a regular file goes through a pipe, since root inside could open it again for writing",
    ),
    (
        "a_stopped_pipeline",
        "sudo's process on its own terminal never stops, so see a_stopped_pipeline_without_sudo",
    ),
];

/// In their place.
const INSTEAD: [Case; 1] = [Case { name: "a_stopped_pipeline_without_sudo", run: stopped_without_sudo }];

/// A trial per case; those that are left out say why.
pub(super) fn trials() -> Vec<Trial> {
    let made = Arc::new(OnceLock::new());
    let of_case = |case: Case| {
        let name = format!("{NAME}::{}", case.name);
        if let Some((_, reason)) = EXCEPT.into_iter().find(|(name, _)| *name == case.name) {
            return Trial::ignorable_test(name, move || Ok(Completion::ignored_with(reason)));
        }
        let made = Arc::clone(&made);
        trial(name, move |host: &ScratchHost| {
            let options = ["--run-as", "root", "--network", "host"];
            let make = || Subject::register(host, NAME, (&ROOT, &ADA), &options);
            let made = made.get_or_init(|| make().map_err(|error| error.to_string()));
            let subject = made.as_ref().map_err(|error| anyhow!("no subject: {error}"))?;
            (case.run)(&Scene { host, subject, control: &Subject::control(&ADA) })
        })
    };
    let cases = crate::cases();
    let is_case = |name: &str| cases.iter().any(|case| case.name == name);
    assert!(EXCEPT.iter().all(|(name, _)| is_case(name)), "a case was renamed");
    cases.into_iter().chain(INSTEAD).map(of_case).collect()
}

/// Once the app runs and sudo has ended, every process of the pipeline stops.
fn stopped_without_sudo(scene: &Scene<'_>) -> Result<()> {
    stopped(scene, |mark, shell| {
        let is_sudo = |process: &Process| process.name == "sudo";
        let ended = || (!processes::marked(mark).iter().any(is_sudo)).then_some(());
        until("the end of sudo", ended, || format!("{:#?}", processes::marked(mark)))?;
        shell.send("\x1a")?;
        shell.expect("Stopped")?;
        Ok(processes::until_state(mark, 'T')?)
    })
}

fn stopped(scene: &Scene<'_>, stop: impl Fn(&str, &Terminal) -> Result<()>) -> Result<()> {
    let code = scene.same(|subject| {
        let (mark, shell) = (scene.host.mark(), subject.shell()?);
        let line = format!(r#""$APP" sh -c 'echo ready; read -r x; echo "got $x"' {mark} | cat"#);
        // What the shell echoes is passed over, so that it is not taken for an answer.
        shell.send(&format!("{line}\r"))?;
        shell.expect(&format!("{line}\r\n"))?;
        shell.expect("ready\r\n")?;
        stop(&mark, &shell)?;
        shell.expect("host> ")?;
        shell.send("fg\r")?;
        shell.send("word\r")?;
        shell.expect("got word\r\n")?;
        shell.expect("host> ")?;
        shell.send("exit 3\r")?;
        Ok(shell.end()?.code)
    })?;
    ensure!(code == Some(3), "{code:?}");
    Ok(())
}
