//! The `main` of a test binary.
//!
//! The binary runs three times. The first run, on the machine, makes the scratch directory, builds the
//! product and cleans up at the end. It starts the second in a pid namespace, as the init of the scratch
//! host. That starts the third, which runs the trials. When the first or the second is killed, the kernel
//! takes everything down.

use std::fmt::Display;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::Signal;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cgroups::Cgroups;
use crate::error::Context as _;
use crate::scratch::Scratch;
use crate::{Result, ScratchHost, gate, init, product};

/// Says which of the three runs this is; set by the testkit only.
const STAGE: &str = "FLAKE_TESTKIT_STAGE";
const SCRATCH: &str = "FLAKE_TESTKIT_SCRATCH";
/// More than the processors of a small machine, since most trials mostly wait.
const THREADS: usize = 4;

/// What a test binary has to run.
#[derive(Debug)]
pub struct Suite {
    /// Whether the product is to be built and installed on the scratch host.
    pub product: bool,
    /// What runs in any order, several at once.
    pub trials: Vec<Trial>,
    /// What runs after all that, one at a time.
    pub last: Vec<Trial>,
}

enum Place {
    Host(Box<ScratchHost>),
    Nowhere(String),
}

static PLACE: OnceLock<Place> = OnceLock::new();

/// A trial on the scratch host; where there can be none, it is ignored and says why.
pub fn trial<E: Display>(
    name: impl Into<String>,
    body: impl FnOnce(&'static ScratchHost) -> Result<(), E> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, move || match PLACE.get() {
        Some(Place::Host(host)) => match body(host) {
            Ok(()) => Ok(Completion::Completed),
            Err(error) => Err(Failed::from(format!("{error:#}"))),
        },
        Some(Place::Nowhere(reason)) => Ok(Completion::ignored_with(reason)),
        None => Err(Failed::from("the trial was not started by flake_testkit::run")),
    })
}

/// Runs `suite` on a scratch host; to be called first thing in `main`, while there is one thread.
#[must_use]
pub fn run(suite: Suite) -> ExitCode {
    let stage = std::env::var(STAGE).unwrap_or_default();
    let dir = std::env::var_os(SCRATCH).map(PathBuf::from).unwrap_or_default();
    let result = match stage.as_str() {
        "" => outside(suite),
        "init" => first_process(&dir),
        _ => {
            let _ = PLACE.set(Place::Host(Box::new(ScratchHost::entered())));
            Ok(trials(&mut Arguments::from_args(), suite))
        }
    };
    result.unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "scratch host: {error}");
        ExitCode::FAILURE
    })
}

fn outside(suite: Suite) -> Result<ExitCode> {
    let mut arguments = Arguments::from_args();
    let missing = gate::missing();
    if arguments.list || missing.is_some() {
        let _ = PLACE.set(Place::Nowhere(missing.unwrap_or_default()));
        return Ok(trials(&mut arguments, suite));
    }
    let (cgroups, scratch) = (Cgroups::remember(), Scratch::new()?);
    let ended = in_namespaces(&scratch, suite.product);
    cgroups.restore();
    scratch.remove()?;
    ended
}

fn in_namespaces(scratch: &Scratch, with_product: bool) -> Result<ExitCode> {
    if with_product {
        product::stage(&scratch.dir().join("stage"))?;
    }
    // From here on children of this process live in the new pid namespace, and it can have no threads.
    unshare(CloneFlags::CLONE_NEWPID).context(|| "make a pid namespace")?;
    let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM]).context(|| "handle signals")?;
    let mut init = first_of(scratch.dir())?.spawn().context(|| "start the scratch host")?;
    let status = loop {
        if let Some(status) = init.try_wait().context(|| "wait for the scratch host")? {
            break status;
        }
        if signals.wait().any(|signal| signal != SIGCHLD) {
            // With its init everything else on the scratch host dies.
            init.kill().context(|| "end the scratch host")?;
        }
    };
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

fn first_process(scratch: &Path) -> Result<ExitCode> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).context(|| "die with the first run")?;
    ScratchHost::build(scratch)?;
    let mut trials = Command::new("/proc/self/exe");
    hand_over(&mut trials, "trials", scratch);
    init::reap_until_end(&mut trials)
}

/// Closes what the caller of the tests left open and handles the signals it ignores: the tests would inherit
/// both.
const CLEAN: &str = r#"
    for fd in /proc/$$/fd/*; do
        fd=${fd##*/}; [ "$fd" -le 2 ] || eval "exec $fd>&-"
    done
    exec /usr/bin/env --default-signal "$0" "$@""#;

/// The init.
fn first_of(scratch: &Path) -> Result<Command> {
    let mut command = Command::new("/usr/bin/bash");
    command.args(["-c", CLEAN]).arg(std::env::current_exe().context(|| "find this program")?);
    hand_over(&mut command, "init", scratch);
    Ok(command)
}

/// Adds this program's arguments and what the next stage has to know.
fn hand_over(command: &mut Command, stage: &str, scratch: &Path) {
    command.args(std::env::args_os().skip(1)).env(STAGE, stage).env(SCRATCH, scratch);
}

fn trials(arguments: &mut Arguments, suite: Suite) -> ExitCode {
    let (mut trials, last) = (suite.trials, suite.last);
    if arguments.list {
        trials.extend(last);
        return libtest_mimic::run(arguments, trials).exit_code();
    }
    arguments.test_threads.get_or_insert(THREADS);
    let mut failed = libtest_mimic::run(arguments, trials).has_failed();
    if last.iter().any(|trial| !arguments.is_filtered_out(trial)) {
        arguments.test_threads = Some(1);
        failed |= libtest_mimic::run(arguments, last).has_failed();
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
