//! Root's side: `podman-pilot NAME SOCKET WORDS...`, started by sudo. Nothing that comes from the caller is
//! believed: the registration is root's own, the environment is filtered by it, descriptors that lead to
//! files are refused, and the working directory is one that the caller could enter.

use super::lend_kept::{self, Borrower};
use super::message::{self, Receiver};
use super::trust;
use crate::ending::{Ending, Refusal};
use crate::run;
use flake_core::caller::Caller;
use flake_core::launch::{self, Rights};
use flake_core::registry::Registry;
use flake_core::words::Words;
use flake_engine::session::{Streams, Surroundings, exec};
use flake_engine::{Engine, Outcome, Started};
use flake_schema::{FlakeName, ShareWhat};
use flake_sys::descriptor::is_harmless;
use flake_sys::detach::detach;
use flake_sys::pin::Pin;
use flake_sys::reason::reason;
use flake_sys::signals::SignalSet;
use flake_sys::{access, peer};
use flake_tools::users::groups_of;
use flake_wire::{Handed, Handoff, REPLY_MAX, Request, VERSION};
use rustix::fs::{FileType, fstat};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the caller may take to say what the call needs.
const HANDOFF_WITHIN: Duration = Duration::from_secs(30);
/// Where working directories are pinned.
const PINS: &str = "/run/flakes-lent";

/// Serves the caller whose launcher listens on the socket.
pub(crate) fn serve(name: &OsStr, socket: &OsStr, words: &[OsString]) -> Result<Ending, Refusal> {
    let uid = env::var("SUDO_UID").ok().and_then(|uid| uid.parse::<u32>().ok());
    let uid = uid.filter(|_| rustix::process::geteuid().is_root());
    let uid = uid.ok_or_else(|| refuse("this is for sudo to call"))?;
    // Not why: that would tell of files that the caller cannot see.
    let socket = UnixStream::connect(socket).map_err(|_| refuse("cannot reach the caller"))?;
    if !peer::of(&socket).is_ok_and(|peer| peer.uid == uid) {
        return Err(refuse("the socket is not the caller's"));
    }
    // The caller is there and has authenticated itself: sudo is done, and gives the terminal back.
    detach().map_err(|error| refuse(&format!("cannot go on without sudo: {}", reason(&error))))?;
    socket
        .set_read_timeout(Some(HANDOFF_WITHIN))
        .map_err(|error| refuse(&format!("cannot wait for the caller: {}", reason(&error))))?;
    if let Err(refusal) = lend(name, uid, words, &socket) {
        let message = refusal.to_string().chars().take(REPLY_MAX / 8).collect();
        message::send(&socket, &Handed::Refused { message }, &[]).map_err(gone)?;
    }
    Ok(Ending::Status(0))
}

/// Starts the environment, asks for the command, hands the connection over, and sees to it that the
/// environment comes up.
fn lend(name: &OsStr, uid: u32, words: &[OsString], socket: &UnixStream) -> Result<(), Refusal> {
    let (mut handoff, beside): (Handoff, _) = Receiver::new()
        .receive(socket)
        .map_err(|error| refuse(&format!("the caller sent nothing usable: {}", reason(&error))))?;
    let own =
        Caller::current().map_err(|error| refuse(&format!("cannot tell who calls: {}", reason(&error))))?;
    let registry = Registry::of(&own)?;
    let name = FlakeName::from_os(name).map_err(flake_core::registry::FindError::from)?;
    let registration = registry.find(&name, None)?;
    trust::check(&registration.loaded.sources)?;
    trust::check(&registry.system.sources)?;
    if let Some(file) = &registry.system.settings.podman_storage_conf {
        trust::check_path(file)?;
    }
    if !registration.loaded.flake.as_root {
        return Err(refuse("does not run as root, so it needs no sudo"));
    }
    let given_up = handoff.given_up.take();
    let surroundings = Surroundings {
        ignored: SignalSet::from_bits(handoff.ignored),
        blocked: SignalSet::from_bits(handoff.blocked),
    };
    let shares_cwd = registration.loaded.flake.share.iter().any(|share| share.what == ShareWhat::Cwd);
    // Kept as long as podman works with the directory's pinned path.
    let (streams, caller, _pin) = accept(handoff, beside, uid, shares_cwd)?;
    let engine = run::lent_engine(&registry.system)?;
    if registration.loaded.flake.lifetime.is_mutable() {
        let borrower = Borrower { caller: &caller, streams, surroundings: &surroundings, given_up };
        return lend_kept::lend(&registration, &registry, (&engine, socket), borrower, words);
    }
    let launch = launch::resolve(
        &registration,
        &registry,
        &caller,
        Words::divide(words.iter().cloned()),
        Rights::Lent,
    )?;
    let Started { socket: connection, starter, becomes } = engine.start(&launch)?;
    let request = Request::Exec(Box::new(exec(&launch, becomes, &streams, &surroundings)));
    let asked = ask_for(&connection, &request, &streams.descriptors);
    drop(streams);
    // A connection on which no command was asked for would run any: then nobody gets it, and the agent ends.
    // Otherwise only the caller holds it from here on, and the environment goes with the caller.
    if asked.is_ok() {
        let handed = Handed::Session { warning: launch.warning.clone(), instance: None };
        message::send(socket, &handed, &[connection]).map_err(gone)?;
    } else {
        drop(connection);
    }
    let Some(starter) = starter else { return asked };
    match starter
        .finish()
        .map_err(|error| refuse(&format!("cannot wait for the engine: {}", reason(&error))))?
    {
        Outcome::Up => asked,
        Outcome::Failed(status, said) => Err(engine.explain(&launch, status, &said).into()),
        Outcome::Refused(why) => Err(refuse(&why)),
    }
}

/// The call's surroundings as far as they can be believed.
fn accept(
    handoff: Handoff,
    mut beside: Vec<OwnedFd>,
    uid: u32,
    shares_cwd: bool,
) -> Result<(Streams, Caller, Option<Pin>), Refusal> {
    let entry = flake_tools::users::by_uid(uid).ok().flatten();
    let entry = entry.ok_or_else(|| refuse("the caller has no passwd entry"))?;
    let mut caller = Caller::with_id(uid, entry.gid).map_err(|error| refuse(&error.to_string()))?;
    let mut pin = None;
    if handoff.has_cwd {
        let folder = beside.pop().ok_or_else(|| refuse("the caller sent no working directory"))?;
        caller.cwd = enterable(&folder, &entry.name, uid, entry.gid)?;
        if shares_cwd && caller.cwd.is_some() {
            // The name may lead elsewhere by the time that podman looks; a mount of the folder cannot.
            let pinned = Pin::new(folder.as_fd(), Path::new(PINS)).map_err(|error| {
                refuse(&format!("cannot share the working directory: {}", reason(&error)))
            })?;
            caller.cwd_pin = Some(pinned.path().to_owned());
            pin = Some(pinned);
        }
    }
    caller.env = handoff
        .env
        .into_iter()
        .map(|(name, value)| (OsString::from_vec(name), OsString::from_vec(value)))
        .collect();
    caller.umask = handoff.umask & 0o777;
    if !beside.iter().all(|descriptor| is_harmless(descriptor.as_fd())) {
        return Err(refuse(
            "the caller passed a file, which root inside could open for more than the caller may",
        ));
    }
    let streams = Streams::received(handoff.streams, beside, handoff.terminal, handoff.modes);
    let streams = streams.ok_or_else(|| refuse("the caller's descriptors do not match"))?;
    Ok((streams, caller, pin))
}

/// The path of a working directory that the caller could enter; none when it was removed.
fn enterable(folder: &OwnedFd, user: &str, uid: u32, gid: u32) -> Result<Option<PathBuf>, Refusal> {
    let stat = fstat(folder).map_err(|error| refuse(&reason(&error.into())))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(refuse("the caller's working directory is no directory"));
    }
    // The kernel adds a word to the name of a removed one, and somebody could have made that name.
    if stat.st_nlink == 0 {
        return Ok(None);
    }
    let groups = groups_of(user, gid).map_err(|error| refuse(&error.to_string()))?;
    access::may_enter(folder.as_fd(), uid, gid, &groups).map_err(|error| {
        refuse(&format!("the working directory is closed to the caller: {}", reason(&error)))
    })?;
    fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()))
        .map(Some)
        .map_err(|error| refuse(&format!("the working directory cannot be found: {}", reason(&error))))
}

/// Sends the request; podman is still starting the agent meanwhile.
pub(super) fn ask_for(
    connection: &OwnedFd,
    request: &Request,
    descriptors: &[OwnedFd],
) -> Result<(), Refusal> {
    let ask = || {
        let stream = UnixStream::from(connection.try_clone()?);
        message::send(&stream, &Request::Hello { version: VERSION }, &[])?;
        message::send(&stream, request, descriptors)
    };
    ask().map_err(|error: io::Error| refuse(&format!("cannot ask the agent: {}", reason(&error))))
}

fn gone(error: io::Error) -> Refusal {
    refuse(&format!("the caller is gone: {}", reason(&error)))
}

pub(super) fn refuse(why: &str) -> Refusal {
    Refusal::Other(why.to_owned())
}
