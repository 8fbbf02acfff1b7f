//! Running a launch with the caller's own rights.

use crate::ending::{Ending, Refusal};
use crate::install;
use flake_core::launch::Launch;
use flake_core::place::{Places, Scope};
use flake_core::registry::Registration;
use flake_engine::podman::Podman;
use flake_engine::session::{End, Files, Relays, Session, Streams, Surroundings, exec};
use flake_engine::{Engine, EngineError, Outcome};
use flake_sys::reason::reason;
use flake_sys::signals;
use flake_tools::podman::Podman as Tool;
use flake_wire::Request;
use rustix::process::Signal;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// How long a container whose name is wanted may take to go.
const NAME_IN_USE: Duration = Duration::from_secs(3);

/// The engine on the store that these places mean.
pub(crate) fn engine(registration: &Registration, places: &Places) -> Result<Podman, Refusal> {
    let file = places.settings.podman_storage_conf.as_deref();
    // A system flake in a user's own store: their storage configuration may not be made yet.
    let is_own = registration.scope == Scope::User || places.scope == Scope::System;
    with_agent(Tool::find()?.with_storage_conf(file.filter(|file| is_own || file.exists())))
}

/// The engine on root's store, for a caller who is not root: nothing of the environment counts.
pub(crate) fn lent_engine(system: &Places) -> Result<Podman, Refusal> {
    with_agent(Tool::find_clean()?.with_storage_conf(system.settings.podman_storage_conf.as_deref()))
}

fn with_agent(tool: Tool) -> Result<Podman, Refusal> {
    let agent = install::agent()
        .map_err(|error| Refusal::Other(format!("cannot find the own program: {}", reason(&error))))?;
    Ok(Podman::new(tool, agent))
}

/// Runs a launch to its end. An image that is missing though it was imported once is imported again, and a
/// container that has the name of this one's is given the time to go.
pub(crate) fn run(
    engine: &Podman,
    launch: &Launch,
    wants_terminal: bool,
    state_dir: &Path,
    setting_up: impl Fn(),
) -> Result<Ending, Refusal> {
    engine.import(launch, state_dir, false, &setting_up)?;
    let by = Instant::now() + NAME_IN_USE;
    let mut is_imported = launch.archive.is_none();
    loop {
        match session(engine, launch, wants_terminal) {
            Err(Refusal::Engine(EngineError::ImageMissing { .. })) if !is_imported => {
                is_imported = true;
                // An import takes a while, and a signal is to end it.
                let_signals_through()?;
                engine.import(launch, state_dir, true, &setting_up)?;
            }
            Err(Refusal::Engine(EngineError::NameInUse(_))) if Instant::now() < by => {
                std::thread::sleep(Duration::from_millis(50));
            }
            result => return result,
        }
    }
}

/// Starts the environment and stays until the command has ended.
fn session(engine: &Podman, launch: &Launch, wants_terminal: bool) -> Result<Ending, Refusal> {
    let files = if launch.as_root { Files::Relayed } else { Files::Passed };
    let signals = Session::signals()?;
    let mut streams = gather(&launch.args, files, wants_terminal)?;
    let started = engine.start(launch)?;
    let request = exec(launch, started.becomes, &streams, &Surroundings::inherited());
    let request = Request::Exec(Box::new(request));
    let relays = streams.start_relays().map_err(copying)?;
    let end = Session::open(signals, started, &request, streams)?.run()?;
    conclude(end, relays, |status, said| engine.explain(launch, status, &said).into())
}

/// The command's descriptors, at a terminal of its own where the call asks for one.
pub(crate) fn gather(args: &[OsString], files: Files, wants_terminal: bool) -> Result<Streams, Refusal> {
    let gather = if wants_terminal { Streams::at_terminal } else { Streams::gather };
    Ok(gather(args, files)?)
}

/// Podman is to be interrupted by signals again, and what ends this process to end it.
pub(crate) fn let_signals_through() -> Result<(), Refusal> {
    signals::restore_mask()
        .map_err(|error| Refusal::Other(format!("cannot receive signals: {}", reason(&error))))
}

/// The application's output is not where it was to go.
pub(crate) fn copying(error: std::io::Error) -> Refusal {
    Refusal::Other(format!("cannot copy between a file and the application: {}", reason(&error)))
}

/// What a session's end means for this process.
pub(crate) fn conclude(
    end: End,
    relays: Relays,
    explain: impl FnOnce(ExitStatus, Vec<u8>) -> Refusal,
) -> Result<Ending, Refusal> {
    match end {
        End::Exited(status) => relays.finish().map(|()| Ending::Status(status)).map_err(copying),
        End::Killed(signal) => relays.finish().map(|()| Ending::Signal(signal)).map_err(copying),
        End::Interrupted(signal) => Ok(Ending::Signal(signal)),
        End::Failed(failure) => Err(failure.into()),
        End::NotStarted(Outcome::Failed(status, said)) => {
            // Perhaps there is another try, for which nothing may be lost and no thread be left.
            relays.finish().map_err(copying)?;
            Err(explain(status, said))
        }
        End::NotStarted(Outcome::Refused(why)) => Err(Refusal::Other(why)),
        End::NotStarted(Outcome::Up) => Err(Refusal::Lost(Signal::KILL.as_raw())),
        End::Lost => Err(Refusal::Lost(Signal::KILL.as_raw())),
    }
}
