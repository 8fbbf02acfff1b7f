//! From the called name to the application's end.

use crate::ending::{Ending, Refusal};
use crate::{install, report};
use flake_core::caller::Caller;
use flake_core::launch::{self, Launch, Rights};
use flake_core::place::{Places, Scope};
use flake_core::registry::{Registration, Registry};
use flake_core::words::{LauncherOption, Words};
use flake_engine::podman::Podman;
use flake_engine::session::{End, Files, Session, Streams, Surroundings, exec};
use flake_engine::{Engine, EngineError};
use flake_tools::podman::Podman as Tool;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Runs a call; `words` is the whole command line.
pub(crate) fn run(words: &[OsString]) -> Result<Ending, Refusal> {
    let called = words.first().map_or(OsStr::new(""), OsString::as_os_str);
    let name = Path::new(called).file_name().unwrap_or_default();
    if install::is_own_name(Path::new(name)) {
        return Err(Refusal::Other("call a registered application instead; see: flake-ctl list".to_owned()));
    }
    let caller =
        Caller::current().map_err(|error| Refusal::Other(format!("cannot tell who calls: {error}")))?;
    let registry = Registry::of(&caller)?;
    let registration = registry.find_called(called, &caller)?;
    let own = Words::divide(words[1..].iter().cloned());
    let speaks = own.has(LauncherOption::Progress);
    let launch = launch::resolve(&registration, &registry.system, &caller, own, Rights::Own)?;
    if let Some(warning) = &launch.warning {
        report::notice(words, warning);
    }
    let places = registry.user.as_ref().unwrap_or(&registry.system);
    let engine = Podman::new(tool(&registration, places)?, agent()?);
    let setting_up = |speaks: bool| {
        let text = format!("setting up {}", launch.name.as_str());
        if speaks { report::say(words, &text) } else { report::notice(words, &text) }
    };
    engine.import(&launch, &places.state_dir, false, || setting_up(speaks))?;
    match session(&engine, &launch) {
        Err(Refusal::Engine(EngineError::ImageMissing { .. })) if launch.archive.is_some() => {
            engine.import(&launch, &places.state_dir, true, || setting_up(speaks))?;
            session(&engine, &launch)
        }
        result => result,
    }
}

/// Podman, on the store that the registration's scope works on.
fn tool(registration: &Registration, places: &Places) -> Result<Tool, Refusal> {
    let is_own = registration.scope == Scope::User || places.scope == Scope::System;
    let file = places.settings.podman_storage_conf.as_deref();
    Ok(Tool::find()?.with_storage_conf(file.filter(|file| is_own || file.exists())))
}

fn agent() -> Result<std::path::PathBuf, Refusal> {
    install::agent().map_err(|error| Refusal::Other(format!("cannot find the own program: {error}")))
}

/// Starts the environment and stays until the command has ended.
fn session(engine: &Podman, launch: &Launch) -> Result<Ending, Refusal> {
    let is_root = rustix::process::geteuid().is_root();
    let files = if is_root { Files::Relayed } else { Files::Passed };
    let signals = Session::signals()?;
    let mut streams = Streams::gather(&launch.args, files)?;
    let started = engine.start(launch)?;
    let request = exec(launch, &streams, &Surroundings::inherited());
    let relays = streams.start_relays();
    let mut session = Session::open(signals, started, request, streams)?;
    let end = session.run()?;
    drop(session);
    match end {
        End::Exited(status) => {
            relays.finish();
            Ok(Ending::Status(status))
        }
        End::Killed(signal) => {
            relays.finish();
            Ok(Ending::Signal(signal))
        }
        End::Interrupted(signal) => Ok(Ending::Signal(signal)),
        End::Failed(failure) => Err(failure.into()),
        End::NotStarted(status, said) => Err(engine.explain(launch, status, &said).into()),
        End::Lost => Err(Refusal::Program {
            message: "the container was ended from outside".to_owned(),
            status: 128 + 9,
        }),
    }
}
