//! Ends that nobody planned: a signal to the launcher, an agent that goes away.

use crate::world::{World, guest, having, launch, script, until};
use crate::{Case, Outcome};
use flake_core::guest::{Guest, GuestError, Heard};
use flake_core::provision::{Moment, run};
use flake_schema::{ProvisionMode, ProvisionRun, ProvisionStep};
use flake_sys::interrupt;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

pub(crate) const CASES: &[Case] = &[("a_signal_ends_the_script_too", a_signal_ends_the_script_too)];

/// In a world that ends with it.
pub(crate) const LAST: &[Case] = &[("an_agent_that_goes_away_is_seen", an_agent_that_goes_away_is_seen)];

fn a_signal_ends_the_script_too(world: &World) -> Outcome {
    for signal in [Signal::INT, Signal::TERM] {
        let mut launcher = Command::new(std::env::current_exe()?)
            .arg(format!("--provision={}", world.socket().display()))
            .stdout(Stdio::piped())
            .spawn()?;
        let mut said = BufReader::new(launcher.stdout.take().ok_or("no output")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        assert_eq!(line, "provision[0]: up\n");
        kill_process(Pid::from_child(&launcher), signal)?;
        let mut rest = String::new();
        said.read_to_string(&mut rest)?;
        assert!(launcher.wait()?.success());
        let number = signal.as_raw();
        assert_eq!(rest, format!("true provision[0] (system): interrupted by signal {number}\n"));
        until("the script is gone", || having("97551") == 0);
    }
    Ok(())
}

/// A program of its own: provisions until it is asked to stop.
#[expect(clippy::print_stdout, reason = "this is a program of its own")]
pub(crate) fn provision(socket: &str) -> ExitCode {
    interrupt::watch();
    let launch = launch(None);
    let step = ProvisionStep {
        mode: ProvisionMode::System,
        script: "echo up; sleep 97551 & sleep 97551".into(),
        run: ProvisionRun::Once,
        timeout: None,
    };
    let mut guest = guest(PathBuf::from(socket), &launch);
    let mut report = |line: &str| println!("{line}");
    match run(&mut guest, &[step], &BTreeMap::new(), Moment::Made, &mut report) {
        Err(error) => println!("{} {error}", error.half_made),
        Ok(()) => println!("not interrupted"),
    }
    ExitCode::SUCCESS
}

fn an_agent_that_goes_away_is_seen(world: &World) -> Outcome {
    let launch = launch(None);
    let agent = Pid::from_raw(world.agent()).ok_or("no agent")?;
    let mut heard = Vec::new();
    let error = world
        .guest(&launch)
        .run(&script("echo last words; exec sleep 97552"), &mut |what| {
            if let Heard::Output(bytes) = what {
                heard.extend_from_slice(bytes);
                let _ = kill_process(agent, Signal::KILL);
            }
        })
        .expect_err("an end");
    assert!(matches!(error, GuestError::Gone), "{error}");
    assert_eq!(heard, b"last words\n");
    // Nobody listens, or somebody still does who is about to go.
    let error = world.guest(&launch).read("/etc/passwd", 1).expect_err("an end");
    assert!(matches!(error, GuestError::Gone | GuestError::Unreachable(_)), "{error}");
    Ok(())
}
