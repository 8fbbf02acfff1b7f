//! Running the application in a kept instance.

use super::{interruptible, manage};
use crate::ending::{Ending, Refusal};
use crate::report;
use crate::run::{self, conclude, copying};
use flake_core::words::LauncherOption;
use flake_engine::Started;
use flake_engine::podman::{Entered, Keeper, LOOK_AFTER};
use flake_engine::session::{End, Files, Session, Surroundings};
use flake_schema::Lifetime;
use flake_wire::FailureKind;
use rustix::process::Signal;

/// How often an instance that goes away before the command runs is brought up again.
const TRIES: usize = 3;

/// Runs the application to its end.
pub(super) fn call(keeper: &Keeper<'_>, options: &[LauncherOption]) -> Result<Ending, Refusal> {
    let launch = keeper.launch;
    let files = if launch.as_root { Files::Relayed } else { Files::Passed };
    let wants_terminal = options.contains(&LauncherOption::Interactive);
    let mut streams = run::gather(&launch.args, files, wants_terminal)?;
    if keeper.flake.lifetime == Lifetime::Attach {
        manage::check_seat(&streams)?;
    }
    let mut relays = None;
    let mut tried = Tried { silent: None, is_shared: false, number: 0 };
    let ending = loop {
        let entered = match keeper.enter().filter(|entered| Some(&entered.made) != tried.silent.as_ref()) {
            Some(entered) => entered,
            None => match interruptible(|| Ok(keeper.bring_up(tried.silent.as_ref())?))? {
                Ok(entered) => entered,
                Err(ending) => return Ok(ending),
            },
        };
        if tried.number == 0 && keeper.is_outdated(&entered.made)? {
            (keeper.notice)(&manage::outdated(&launch.name));
        }
        if !tried.is_shared && is_shared_beforehand(keeper, files) {
            tried.is_shared = true;
            keeper.share()?;
        }
        let Entered { socket, made, in_use } = entered;
        let signals = Session::signals()?;
        let request = keeper.request(&made, &streams, &Surroundings::inherited());
        let started = Started { socket, starter: None, becomes: false };
        if relays.is_none() {
            relays = Some(streams.start_relays().map_err(copying)?);
        }
        let again = streams.again().map_err(copying)?;
        let session = Session::open_when_answered(signals, started, request, again)?;
        let mut session = session.with_notes(report::note).with_spare(streams);
        let is_there = session.is_answered(LOOK_AFTER)? || keeper.is_running()?;
        let end = if is_there { session.run()? } else { End::Lost };
        streams = match (session.into_spare(), &end) {
            (Some(streams), End::Failed(failure))
                if failure.kind == FailureKind::NotShared && !tried.is_shared =>
            {
                tried.is_shared = true;
                drop(in_use);
                run::let_signals_through()?;
                keeper.share()?;
                streams
            }
            (Some(streams), End::Lost) if tried.number < TRIES => {
                tried.number += 1;
                tried.silent = Some(made);
                drop(in_use);
                run::let_signals_through()?;
                streams
            }
            _ => {
                break conclude(end, relays.unwrap_or_default(), |_, _| {
                    Refusal::Lost(Signal::KILL.as_raw())
                })?;
            }
        };
    };
    if options.contains(&LauncherOption::Remove) {
        run::let_signals_through()?;
        // What others run in it is not ended.
        let Some(_closed) = keeper.notes.close(keeper.instance) else {
            report::say(&report::own_name(), &manage::in_use(keeper.instance).to_string());
            return Ok(ending);
        };
        if let Err(interrupted) = interruptible(|| Ok(keeper.remove()?))? {
            return Ok(interrupted);
        }
    }
    Ok(ending)
}

/// What was tried so far.
struct Tried {
    /// What was entered and did not answer.
    silent: Option<flake_core::instance::Made>,
    /// The working directory was mounted.
    is_shared: bool,
    /// How often the instance went away.
    number: usize,
}

/// Whether the working directory has to be looked after before the call: where the application does not start in it, the
/// agent cannot tell; and where files are copied, there is another thread later.
fn is_shared_beforehand(keeper: &Keeper<'_>, files: Files) -> bool {
    let launch = keeper.launch;
    launch
        .passing
        .as_ref()
        .is_some_and(|bind| files == Files::Relayed || launch.workdir.as_ref() != Some(&bind.path))
}
