//! Calls through sudo of flakes whose instances are kept. Root's side asks nobody, so what is asked is asked here.

use super::ask::{Called, call};
use crate::ending::{Ending, Refusal};
use crate::kept::manage;
use crate::kept::question::{self, Answer};
use crate::run;
use flake_core::caller::Caller;
use flake_core::instance::{FlakeVerb, KeptCall};
use flake_core::words::LauncherOption;
use flake_schema::{FlakeName, InstanceName};
use std::ffi::OsString;

/// Runs a call.
pub(super) fn run(words: &[OsString], app: &FlakeName, caller: &Caller) -> Result<Ending, Refusal> {
    let mut words = words.to_vec();
    loop {
        let divided = KeptCall::divide(app.as_str(), words[1..].iter().cloned(), |_| false)?;
        if divided.verb == FlakeVerb::Update {
            let label = divided.instance.as_ref().map_or(app.as_str(), InstanceName::as_str);
            if let Some(ending) = manage::may_remake(app, label)? {
                return Ok(ending);
            }
        }
        let labels = match call(&words, app, &divided.options, caller)? {
            Called::Ended(ending, Some(label)) if divided.options.contains(&LauncherOption::Remove) => {
                return remove(&words, app, &label, caller).map(|interrupted| interrupted.unwrap_or(ending));
            }
            Called::Ended(ending, _) => return Ok(ending),
            Called::Several(labels) => labels,
        };
        let labels: Vec<_> = labels.iter().map(String::as_str).collect();
        match question::which(app, &labels)? {
            Answer::Given(index) => words.insert(1, format!("@{}", labels[index]).into()),
            Answer::Signal(signal) => return Ok(Ending::Signal(signal)),
        }
        run::let_signals_through()?;
    }
}

/// Removes the instance that the call was in. Gives how the call ends where a signal comes meanwhile.
fn remove(
    words: &[OsString],
    app: &FlakeName,
    label: &str,
    caller: &Caller,
) -> Result<Option<Ending>, Refusal> {
    run::let_signals_through()?;
    let words = [words[0].clone(), "flake".into(), format!("remove={label}").into()];
    Ok(match call(&words, app, &[], caller)? {
        Called::Ended(Ending::Signal(signal), _) => Some(Ending::Signal(signal)),
        _ => None,
    })
}
