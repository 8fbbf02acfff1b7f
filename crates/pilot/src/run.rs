//! Running a launch with the caller's own rights.

use crate::ending::{Ending, Refusal};
use crate::install;
use flake_core::launch::Launch;
use flake_core::place::{Places, Scope};
use flake_core::registry::Registration;
use flake_engine::podman::Podman;
use flake_engine::session::{End, Files, Relays, Session, Streams, Surroundings, exec};
use flake_engine::{Engine, EngineError, Outcome};
use flake_tools::podman::Podman as Tool;
use rustix::process::Signal;
use std::path::Path;
use std::process::ExitStatus;

/// The engine on the store that these places mean.
pub(crate) fn engine(registration: &Registration, places: &Places) -> Result<Podman, Refusal> {
    let file = places.settings.podman_storage_conf.as_deref();
    // A system flake in a user's own store: their storage configuration may not be made yet.
    let is_own = registration.scope == Scope::User || places.scope == Scope::System;
    let tool = Tool::find()?.with_storage_conf(file.filter(|file| is_own || file.exists()));
    let agent =
        install::agent().map_err(|error| Refusal::Other(format!("cannot find the own program: {error}")))?;
    Ok(Podman::new(tool, agent))
}

/// Runs a launch to its end. An image that is missing though it was imported once is imported again.
pub(crate) fn run(
    engine: &Podman,
    launch: &Launch,
    state_dir: &Path,
    setting_up: impl Fn(),
) -> Result<Ending, Refusal> {
    engine.import(launch, state_dir, false, &setting_up)?;
    match session(engine, launch) {
        Err(Refusal::Engine(EngineError::ImageMissing { .. })) if launch.archive.is_some() => {
            engine.import(launch, state_dir, true, &setting_up)?;
            session(engine, launch)
        }
        result => result,
    }
}

/// Starts the environment and stays until the command has ended.
fn session(engine: &Podman, launch: &Launch) -> Result<Ending, Refusal> {
    let files = if launch.as_root { Files::Relayed } else { Files::Passed };
    let signals = Session::signals()?;
    let mut streams = Streams::gather(&launch.args, files)?;
    let started = engine.start(launch)?;
    let request = exec(launch, &streams, &Surroundings::inherited());
    let relays = streams.start_relays();
    let end = Session::open(signals, started, request, streams)?.run()?;
    conclude(end, relays, |status, said| engine.explain(launch, status, &said).into())
}

/// What a session's end means for this process.
pub(crate) fn conclude(
    end: End,
    relays: Relays,
    explain: impl FnOnce(ExitStatus, Vec<u8>) -> Refusal,
) -> Result<Ending, Refusal> {
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
        End::NotStarted(Outcome::Failed(status, said)) => Err(explain(status, said)),
        End::NotStarted(Outcome::Refused(why)) => Err(Refusal::Other(why)),
        End::NotStarted(Outcome::Up) => Err(Refusal::Lost(Signal::KILL.as_raw())),
        End::Lost => Err(Refusal::Lost(Signal::KILL.as_raw())),
    }
}
