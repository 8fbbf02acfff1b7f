//! Calls of flakes whose instances are kept.

pub(crate) mod manage;
pub(crate) mod question;
mod session;

use crate::ending::{Ending, Refusal};
use crate::{report, run};
use flake_core::caller::Caller;
use flake_core::instance::{Choice, FlakeVerb, Instance, KeptCall, Notes, choose, group};
use flake_core::launch::{self, Rights};
use flake_core::registry::{Registration, Registry};
use flake_engine::podman::Keeper;
use flake_schema::InstanceName;
use flake_sys::{interrupt, spawn};
use question::Answer;
use std::ffi::OsString;

/// Runs a call.
pub(crate) fn run(
    words: &[OsString],
    registration: &Registration,
    registry: &Registry,
    caller: &Caller,
) -> Result<Ending, Refusal> {
    let app = &registration.loaded.name;
    let places = registry.own();
    let notes = Notes::new(&places.state_dir, caller.uid, group(&registration.loaded.flake, app));
    let exists = |name: &InstanceName| notes.has(&notes.instance(Some(name.clone())));
    let mut call = KeptCall::divide(app.as_str(), words[1..].iter().cloned(), exists)?;
    if let Some(text) = manage::text(&call, app, &notes) {
        return Ok(manage::print(&text));
    }
    let instance = match choose(app.as_str(), &notes, call.instance.take(), call.verb)? {
        Choice::One(instance) => instance,
        Choice::Several(instances) => {
            let labels: Vec<_> = instances.iter().map(Instance::label).collect();
            match question::which(app, &labels)? {
                Answer::Given(index) => instances[index].clone(),
                Answer::Signal(signal) => return Ok(Ending::Signal(signal)),
            }
        }
    };
    let (verb, options) = (call.verb, call.options.clone());
    let launch = launch::resolve(registration, registry, caller, call.into_words(), Rights::Own)?;
    if let Some(warning) = &launch.warning {
        report::notice(words, warning);
    }
    let show = |text: &str| report::progress(words, &options, text);
    let engine = run::engine(registration, places)?;
    let keeper = Keeper {
        engine: &engine,
        launch: &launch,
        flake: &registration.loaded.flake,
        settings: &places.settings,
        notes: &notes,
        instance: &instance,
        state_dir: &places.state_dir,
        runtime: caller.xdg("XDG_RUNTIME_DIR"),
        notice: &show,
    };
    match verb {
        FlakeVerb::Remove => manage::remove(&keeper, app),
        FlakeVerb::Update => manage::update(&keeper, app),
        _ => session::call(&keeper, &options),
    }
}

/// Does what takes a while, unless a signal that ends the call comes meanwhile: then all is undone first.
fn interruptible<T>(work: impl FnOnce() -> Result<T, Refusal>) -> Result<Result<T, Ending>, Refusal> {
    interrupt::watch();
    let done = work();
    // Those who have read what podman said are gone in a moment.
    spawn::await_one_thread();
    match (interrupt::unwatch(), done) {
        (Some(signal), _) => Ok(Err(Ending::Signal(signal))),
        (None, done) => done.map(Ok),
    }
}
