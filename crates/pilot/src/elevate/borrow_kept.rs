//! Calls through sudo of flakes whose instances are kept. Root's side asks nobody, so what is asked is asked here.

use super::ask::{Asking, Called, call};
use crate::ending::{Ending, Refusal};
use crate::kept::manage;
use crate::kept::question::{self, Answer};
use crate::{report, run};
use flake_core::caller::Caller;
use flake_core::instance::KeptCall;
use flake_core::words::LauncherOption;
use flake_schema::FlakeName;
use std::ffi::OsString;

/// Runs a call.
pub(super) fn run(words: &[OsString], app: &FlakeName, caller: &Caller) -> Result<Ending, Refusal> {
    let mut words = words.to_vec();
    let options = KeptCall::divide(app.as_str(), words[1..].iter().cloned(), |_| false)?.options;
    let mut asking = Asking { options: &options, given_up: None };
    loop {
        match call(&words, app, &asking, caller)? {
            Called::Ended(ending, Some(label)) if options.contains(&LauncherOption::Remove) => {
                return remove(&words, app, &label, caller).map(|interrupted| interrupted.unwrap_or(ending));
            }
            Called::Ended(ending, _) => return Ok(ending),
            Called::Several(labels) => {
                let labels: Vec<_> = labels.iter().map(String::as_str).collect();
                run::let_signals_through()?;
                match question::which(app, &labels)? {
                    Answer::Given(index) => words.insert(1, format!("@{}", labels[index]).into()),
                    Answer::Signal(signal) => return Ok(Ending::Signal(signal)),
                }
            }
            Called::Losing(label) => {
                run::let_signals_through()?;
                if let Some(ending) = manage::may_remake(app, &label)? {
                    return Ok(ending);
                }
                asking.given_up = Some(label);
            }
        }
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
    Ok(match call(&words, app, &Asking { options: &[], given_up: None }, caller) {
        Ok(Called::Ended(Ending::Signal(signal), _)) => Some(Ending::Signal(signal)),
        Ok(_) => None,
        // The application has run, and its status is the call's.
        Err(refusal) => {
            report::say(&words, &refusal.to_string());
            None
        }
    })
}
