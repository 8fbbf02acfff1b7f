//! Whether the behaviour suite can fail: it is run on `podman run`, which is known not to behave as a host
//! command.
//!
//! With `FLAKE_ALL_CASES=1` every case is run, which takes minutes, since a case that hangs has to reach its
//! deadline.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};
use flake_behaviour::{Case, Scene, cases};
use flake_testkit::{ADA, Image, ScratchHost, Subject, Suite, run, trial};

/// Cases that `podman run` is known to fail, without those that hang on it or depend on a race.
const FAILING: [&str; 14] = [
    "bytes_that_are_not_utf8",
    "ctrl_c_ends_the_app",
    "death_by_sigkill",
    "dev_tty",
    "ignored_signals_stay_ignored",
    "only_stderr_is_the_terminal",
    "process_substitution_to_read",
    "signal_dispositions_are_inherited",
    "stdin_is_read_no_further_than_the_app_does",
    "stdin_pipe_with_terminal_stdout",
    "stdout_closed",
    "stdout_is_full",
    "term_is_inherited",
    "umask_is_inherited",
];

/// Cases that it passes: a suite that fails everything would notice nothing either.
const PASSING: [&str; 7] = [
    "a_thousand_words",
    "empty_words",
    "exit_42",
    "first_line_arrives_before_the_app_ends",
    "shell_prompt",
    "stdin_piped",
    "window_size",
];

fn main() -> ExitCode {
    let all = std::env::var_os("FLAKE_ALL_CASES").is_some();
    let trials = cases().into_iter().filter_map(|case| match case.name {
        _ if all => Some(trial(format!("podman_run::{}", case.name), move |host| on_podman_run(host, case))),
        name if FAILING.contains(&name) => Some(trial(format!("notices::{name}"), move |host| {
            let result = on_podman_run(host, case);
            ensure!(result.is_err(), "podman run passes");
            Ok(())
        })),
        name if PASSING.contains(&name) => {
            Some(trial(format!("accepts::{name}"), move |host| on_podman_run(host, case)))
        }
        _ => None,
    });
    let trials: Vec<_> = trials.collect();
    assert!(all || trials.len() == FAILING.len() + PASSING.len(), "a case was renamed");
    run(Suite { product: false, trials, last: Vec::new() })
}

fn on_podman_run(host: &ScratchHost, case: Case) -> Result<()> {
    static SUBJECT: OnceLock<Result<Subject, String>> = OnceLock::new();
    let made = SUBJECT.get_or_init(|| podman_run(host).map_err(|error| format!("{error:#}")));
    let subject = made.as_ref().map_err(|error| anyhow::anyhow!("no subject: {error}"))?;
    (case.run)(&Scene { host, subject, control: &Subject::control(&ADA) })
}

/// `podman run` as a launcher, as good as a shell script can make it.
fn podman_run(host: &ScratchHost) -> Result<Subject> {
    let image = host.image(&ADA, &Image::BOX)?;
    let script = |name: &str, target: &str| -> Result<PathBuf> {
        let path = Path::new("/usr/local/bin").join(name);
        let run = "exec podman run --rm --pull=never --network=host --init -i";
        let text = format!(
            "#!/bin/sh\nset -- {image} {target} \"$@\"\ntest -t 0 && test -t 1 && set -- -t \"$@\"\n{run} \"$@\"\n"
        );
        fs::write(&path, text).context("write a launcher")?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        Ok(path)
    };
    Ok(Subject {
        name: "podman_run",
        user: &ADA,
        app: script("run", "/bin/busybox")?,
        missing: script("run-missing", "/bin/absent")?,
        not_executable: script("run-plain", "/etc/passwd")?,
        before_words: &[],
    })
}
