//! Which way a call goes.

use crate::elevate::{ask, lend};
use crate::ending::{Ending, Refusal};
use crate::{direct, install, kept, report, run};
use flake_core::caller::Caller;
use flake_core::gap;
use flake_core::launch::{self, ResolveError, Rights};
use flake_core::place::Scope;
use flake_core::registry::Registry;
use flake_core::straight;
use flake_core::words::{LauncherOption, Words};
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::Path;

/// Runs a call; `words` is the whole command line.
pub(crate) fn run(words: &[OsString]) -> Result<Ending, Refusal> {
    let called = words.first().map_or(OsStr::new(""), OsString::as_os_str);
    if install::is_own_name(Path::new(called).file_name().unwrap_or_default()) {
        return match words {
            [_, name, socket, words @ ..] if Path::new(socket).is_absolute() => {
                lend::serve(name, socket, words)
            }
            _ => Err(Refusal::Other("call a registered application instead; see: flake-ctl list".to_owned())),
        };
    }
    let caller =
        Caller::current().map_err(|error| Refusal::Other(format!("cannot tell who calls: {error}")))?;
    let registry = Registry::of(&caller)?;
    let registration = registry.find_called(called, &caller)?;
    let flake = &registration.loaded.flake;
    if let Some(part) = gap::missing_part(flake) {
        return Err(ResolveError::MissingPart { part }.into());
    }
    if flake.as_root && !caller.is_root() {
        if registration.scope == Scope::User {
            let why = "runs as root, so only root can register it; try: sudo flake-ctl podman register";
            return Err(Refusal::Other(why.to_owned()));
        }
        return ask::run_elevated(words, &registration, &caller);
    }
    if flake.lifetime.is_mutable() {
        return kept::run(words, &registration, &registry, &caller);
    }
    let own = Words::divide(words[1..].iter().cloned());
    let options = own.options.clone();
    // The launcher gives the application a terminal of its own only by the agent.
    let wants_terminal = own.has(LauncherOption::Interactive) && !has_terminal();
    let launch = launch::resolve(&registration, &registry, &caller, own, Rights::Own)?;
    if let Some(warning) = &launch.warning {
        report::notice(words, warning);
    }
    let setting_up = || report::progress(words, &options, &format!("setting up {}", launch.name.as_str()));
    let places = registry.own();
    if !wants_terminal
        && straight::why_not(flake, &caller).is_none()
        && let Some(ending) = direct::run(&registration, &launch, places, setting_up)?
    {
        return Ok(ending);
    }
    let engine = run::engine(&registration, places)?;
    run::run(&engine, &launch, wants_terminal, &places.state_dir, setting_up)
}

/// Whether standard input and output are terminals.
pub(crate) fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
