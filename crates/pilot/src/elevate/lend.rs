//! Root's side: `podman-pilot NAME SOCKET WORDS...`, started by sudo. Nothing that comes from the caller is
//! believed: the registration is root's own, the environment is filtered by it, descriptors that lead to
//! files are refused, and the working directory is one that the caller could enter.

use super::message::{self, Receiver};
use crate::ending::{Ending, Refusal};
use crate::run;
use flake_core::caller::Caller;
use flake_core::launch::{self, Rights};
use flake_core::registry::Registry;
use flake_core::words::Words;
use flake_engine::session::{Streams, Surroundings, exec};
use flake_engine::{Engine, Outcome, Started};
use flake_schema::{FlakeName, Source};
use flake_sys::signals::SignalSet;
use flake_sys::{access, peer};
use flake_wire::{Handed, Handoff, REPLY_MAX, Request, VERSION, encode};
use rustix::fs::{FileType, fstat};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// Serves the caller whose launcher listens on the socket.
pub(crate) fn serve(name: &OsStr, socket: &OsStr, words: &[OsString]) -> Result<Ending, Refusal> {
    let uid = env::var("SUDO_UID").ok().and_then(|uid| uid.parse::<u32>().ok());
    let uid = uid.filter(|_| rustix::process::geteuid().is_root());
    let uid = uid.ok_or_else(|| refuse("this is for sudo to call"))?;
    let socket =
        UnixStream::connect(socket).map_err(|error| refuse(&format!("cannot reach the caller: {error}")))?;
    if !peer::of(&socket).is_ok_and(|peer| peer.uid == uid) {
        return Err(refuse("the socket is not the caller's"));
    }
    if let Err(refusal) = lend(name, uid, words, &socket) {
        let message = refusal.to_string().chars().take(REPLY_MAX / 8).collect();
        message::send(&socket, &Handed::Refused { message }, &[]).map_err(gone)?;
    }
    Ok(Ending::Status(0))
}

/// Starts the environment, asks for the command, hands the connection over, and sees to it that the
/// environment comes up.
fn lend(name: &OsStr, uid: u32, words: &[OsString], socket: &UnixStream) -> Result<(), Refusal> {
    let (handoff, beside): (Handoff, _) = Receiver::new()
        .receive(socket)
        .map_err(|error| refuse(&format!("the caller sent nothing usable: {error}")))?;
    let own = Caller::current().map_err(|error| refuse(&format!("cannot tell who calls: {error}")))?;
    let registry = Registry::of(&own)?;
    let name = FlakeName::from_os(name).map_err(flake_core::registry::FindError::from)?;
    let registration = registry.find(&name, None)?;
    check_owner(&registration.loaded.sources)?;
    if !registration.loaded.flake.as_root {
        return Err(refuse("does not run as root, so it needs no sudo"));
    }
    let surroundings = Surroundings {
        ignored: SignalSet::from_bits(handoff.ignored),
        blocked: SignalSet::from_bits(handoff.blocked),
    };
    let (streams, caller) = accept(handoff, beside, uid)?;
    let launch = launch::resolve(
        &registration,
        &registry.system,
        &caller,
        Words::divide(words.iter().cloned()),
        Rights::Lent,
    )?;
    let engine = run::engine(&registration, &registry.system)?;
    let Started { socket: connection, starter } = engine.start(&launch)?;
    ask_for(&connection, exec(&launch, &streams, &surroundings), &streams.descriptors)?;
    drop(streams);
    // From here on only the caller holds the connection, and the environment goes with the caller.
    let handed = Handed::Session { warning: launch.warning.clone() };
    message::send(socket, &handed, &[connection]).map_err(gone)?;
    match starter.finish().map_err(|error| refuse(&format!("cannot wait for the engine: {error}")))? {
        Outcome::Up => Ok(()),
        Outcome::Failed(status, said) => Err(engine.explain(&launch, status, &said).into()),
        Outcome::Refused(why) => Err(refuse(&why)),
    }
}

/// Every file that decides about a privileged launch is root's, and nobody else can change it.
fn check_owner(sources: &[Source]) -> Result<(), Refusal> {
    for source in sources {
        let Some(identity) = source.identity else { continue };
        if identity.uid != 0 || identity.mode & 0o022 != 0 {
            return Err(refuse(&format!(
                "{} can be changed by others than root; try: chown root:root {0} && chmod go-w {0}",
                source.path.display()
            )));
        }
    }
    Ok(())
}

/// The call's surroundings as far as they can be believed.
fn accept(handoff: Handoff, mut beside: Vec<OwnedFd>, uid: u32) -> Result<(Streams, Caller), Refusal> {
    let entry = flake_sys::user::by_uid(uid).ok().flatten();
    let entry = entry.ok_or_else(|| refuse("the caller has no passwd entry"))?;
    let mut caller = Caller::with_id(uid, entry.gid).map_err(|error| refuse(&error.to_string()))?;
    if handoff.has_cwd {
        let folder = beside.pop().ok_or_else(|| refuse("the caller sent no working directory"))?;
        caller.cwd = Some(enterable(&folder, &entry.name, uid, entry.gid)?);
    }
    caller.env = handoff
        .env
        .into_iter()
        .map(|(name, value)| (OsString::from_vec(name), OsString::from_vec(value)))
        .collect();
    caller.umask = handoff.umask & 0o777;
    for descriptor in &beside {
        let kind = fstat(descriptor).map(|stat| FileType::from_raw_mode(stat.st_mode));
        if !matches!(kind, Ok(FileType::Fifo | FileType::Socket | FileType::CharacterDevice)) {
            return Err(refuse("the caller passed a file, which root inside could open for writing"));
        }
    }
    let streams = Streams::received(handoff.streams, beside, handoff.terminal, handoff.modes);
    let streams = streams.ok_or_else(|| refuse("the caller's descriptors do not match"))?;
    Ok((streams, caller))
}

/// The path of a working directory that the caller could enter.
fn enterable(folder: &OwnedFd, user: &str, uid: u32, gid: u32) -> Result<PathBuf, Refusal> {
    let is_folder =
        fstat(folder).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
    if !is_folder {
        return Err(refuse("the caller's working directory is no directory"));
    }
    access::may_enter(folder.as_fd(), user, uid, gid).map_err(|error| {
        refuse(&format!("the caller's working directory is closed to the caller: {error}"))
    })?;
    fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()))
        .map_err(|error| refuse(&format!("the caller's working directory cannot be found: {error}")))
}

/// Sends the request; podman is still starting the agent meanwhile.
fn ask_for(connection: &OwnedFd, request: flake_wire::Exec, descriptors: &[OwnedFd]) -> Result<(), Refusal> {
    let failed = |error: &dyn std::fmt::Display| refuse(&format!("cannot ask the agent: {error}"));
    let stream = UnixStream::from(connection.try_clone().map_err(|error| failed(&error))?);
    let mut hello = Vec::new();
    encode(&Request::Hello { version: VERSION }, &mut hello).map_err(|error| failed(&error))?;
    std::io::Write::write_all(&mut &stream, &hello).map_err(|error| failed(&error))?;
    message::send(&stream, &Request::Exec(Box::new(request)), descriptors).map_err(|error| failed(&error))
}

fn gone(error: std::io::Error) -> Refusal {
    refuse(&format!("the caller is gone: {error}"))
}

fn refuse(why: &str) -> Refusal {
    Refusal::Other(why.to_owned())
}
