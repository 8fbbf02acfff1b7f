//! Root's side for flakes whose instances are kept: the caller's instance in root's store is entered, or made first.

use super::lend::{ask_for, refuse};
use super::message;
use crate::ending::Refusal;
use crate::kept::manage;
use flake_core::caller::Caller;
use flake_core::instance::{Choice, FlakeVerb, KeptCall, Notes, choose, group};
use flake_core::launch::{self, Rights};
use flake_core::registry::{Registration, Registry};
use flake_engine::podman::{Entered, Keeper, Podman};
use flake_engine::session::{Streams, Surroundings};
use flake_schema::{InstanceName, Lifetime};
use flake_wire::{Handed, REPLY_MAX};
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;

/// What the caller sent along.
pub(super) struct Borrower<'a> {
    pub(super) caller: &'a Caller,
    pub(super) streams: Streams,
    pub(super) surroundings: &'a Surroundings,
    /// The label of the instance whose data may be lost.
    pub(super) given_up: Option<String>,
}

/// Does what the words ask for.
pub(super) fn lend(
    registration: &Registration,
    registry: &Registry,
    (engine, socket): (&Podman, &UnixStream),
    borrower: Borrower<'_>,
    words: &[OsString],
) -> Result<(), Refusal> {
    let Borrower { caller, streams, surroundings, given_up } = borrower;
    let (flake, app) = (&registration.loaded.flake, &registration.loaded.name);
    let places = &registry.system;
    let notes = Notes::new(&places.state_dir, caller.uid, group(flake, app));
    let exists = |name: &InstanceName| notes.has(&notes.instance(Some(name.clone())));
    let mut call = KeptCall::divide(app.as_str(), words.iter().cloned(), exists)?;
    if let Some(text) = manage::text(&call, app, &notes) {
        return say(socket, text);
    }
    let instance = match choose(app.as_str(), &notes, call.instance.take(), call.verb)? {
        Choice::One(instance) => instance,
        Choice::Several(instances) => {
            let labels = instances.iter().map(|instance| instance.label().to_owned()).collect();
            return message::send(socket, &Handed::Several { labels }, &[]).map_err(gone);
        }
    };
    let verb = call.verb;
    if verb == FlakeVerb::Update && given_up.as_deref() != Some(instance.label()) {
        let label = instance.label().to_owned();
        return message::send(socket, &Handed::Losing { label }, &[]).map_err(gone);
    }
    let launch = launch::resolve(registration, registry, caller, call.into_words(), Rights::Lent)?;
    // A caller who is gone needs no notice, and is found out about at the end.
    let notice = |text: &str| {
        let text = text.chars().take(REPLY_MAX / 8).collect();
        let _ = message::send(socket, &Handed::Notice { text }, &[]);
    };
    let keeper = Keeper {
        engine,
        launch: &launch,
        flake,
        settings: &places.settings,
        notes: &notes,
        instance: &instance,
        state_dir: &places.state_dir,
        runtime: None,
        notice: &notice,
    };
    match verb {
        FlakeVerb::Remove => {
            let rm = format!("sudo flake-ctl rm --user {} --force", caller.name);
            let in_use = || manage::in_use_until(&instance, app, &rm);
            let _closed = notes.close(&instance).ok_or_else(in_use)?;
            keeper.remove()?;
            return say(socket, String::new());
        }
        FlakeVerb::Update => {
            let _closed = notes.close(&instance).ok_or_else(|| manage::in_use(&instance))?;
            keeper.remake()?;
            return say(socket, String::new());
        }
        _ => {}
    }
    if flake.lifetime == Lifetime::Attach {
        manage::check_seat(&streams)?;
    }
    let Entered { socket: connection, made, in_use } = keeper.enter_certainly()?;
    keeper.share()?;
    let mut warning = launch.warning.clone();
    if keeper.is_outdated(&made)? {
        warning.get_or_insert_with(|| manage::outdated(app));
    }
    let request = keeper.request(&made, &streams, surroundings);
    // A connection on which no command was asked for would run any: then nobody gets it.
    ask_for(&connection, &request, &streams.descriptors)?;
    drop(streams);
    let handed = Handed::Session { warning, instance: Some(instance.label().to_owned()) };
    message::send(socket, &handed, &[connection, in_use.into()]).map_err(gone)
}

fn say(socket: &UnixStream, text: String) -> Result<(), Refusal> {
    message::send(socket, &Handed::Said { text }, &[]).map_err(gone)
}

fn gone(error: io::Error) -> Refusal {
    refuse(&format!("the caller is gone: {}", flake_sys::reason::reason(&error)))
}
