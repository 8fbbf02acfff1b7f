//! `APP flake ...`: what is done with instances beside running something in them.

use super::interruptible;
use super::question::{self, Answer};
use crate::ending::{Ending, Refusal};
use flake_core::instance::{FlakeVerb, Instance, KeptCall, Notes};
use flake_engine::podman::Keeper;
use flake_schema::FlakeName;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// What `APP flake --help` says, with `APP` for the command.
const HELP: &str = "\
APP WORDS...                 run in the instance, which is made at the first call
APP @NAME WORDS...           run in the instance of this name, likewise
APP flake list               the instances
APP flake new[=NAME]         run in a new instance
APP flake resume=NAME        run in an instance that is there
APP flake remove=NAME        remove an instance, with its data
APP flake update             make an instance anew, from image and flake as they are now
APP flake args WORDS...      run with these words; also behind new and resume
";

/// What needs no instance; nothing where the call does.
pub(super) fn without_one(call: &KeptCall, app: &FlakeName, notes: &Notes) -> Option<Ending> {
    let text = match call.verb {
        FlakeVerb::Help => HELP.replace("APP", app.as_str()),
        FlakeVerb::List => list(notes),
        _ => return None,
    };
    // As with any command: whoever closes the pipe has read enough.
    let _ = io::stdout().write_all(text.as_bytes());
    Some(Ending::Status(0))
}

fn list(notes: &Notes) -> String {
    let instances = notes.instances();
    let width = instances.iter().map(|instance| instance.label().len()).max().unwrap_or_default();
    let line = |instance: &Instance| {
        let state = if notes.is_in_use(instance) {
            "in use".to_owned()
        } else {
            let idle = notes.last_use(instance).and_then(|used| SystemTime::now().duration_since(used).ok());
            format!("used {} ago", idle.map_or_else(|| "some time".to_owned(), shown))
        };
        format!("{:width$}  {state}\n", instance.label())
    };
    instances.iter().map(line).collect()
}

/// A length of time in its largest unit.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
    let (size, unit) = units.into_iter().find(|(size, _)| seconds >= *size).unwrap_or((1, "second"));
    let number = seconds / size;
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// `flake remove=NAME`.
pub(super) fn remove(keeper: &Keeper<'_>, app: &FlakeName) -> Result<Ending, Refusal> {
    let called = keeper.instance.called_by(app.as_str());
    let Some(_closed) = keeper.notes.close(keeper.instance) else {
        return Err(Refusal::Other(format!(
            "instance {} is in use; to end what runs in it: flake-ctl rm --force {called}",
            keeper.instance.label()
        )));
    };
    interruptible(|| Ok(keeper.remove()?))
        .map(|done| done.map_or_else(|ending| ending, |()| Ending::Status(0)))
}

/// `flake update`: what is in the instance is lost, so it is asked first.
pub(super) fn update(keeper: &Keeper<'_>, app: &FlakeName) -> Result<Ending, Refusal> {
    let label = keeper.instance.label();
    if question::is_possible() {
        let text = format!("All data in instance {label} of {app} will be lost. Make it anew?");
        match question::confirm(&text)? {
            Answer::Given(true) => {}
            Answer::Given(false) => return Ok(Ending::Status(1)),
            Answer::Signal(signal) => return Ok(Ending::Signal(signal)),
        }
    } else {
        let called = keeper.instance.called_by(app.as_str());
        return Err(Refusal::Other(format!(
            "update loses all data in instance {label}, which is asked on a terminal; without one: \
             flake-ctl rm --force {called}, then call it again"
        )));
    }
    let Some(closed) = keeper.notes.close(keeper.instance) else {
        return Err(Refusal::Other(format!("instance {label} is in use")));
    };
    let done = interruptible(|| Ok(keeper.remake()?));
    drop(closed);
    done.map(|done| done.map_or_else(|ending| ending, |()| Ending::Status(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_one_unit() {
        for (seconds, text) in
            [(0, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (7200, "2 hours"), (90000, "1 day")]
        {
            assert_eq!(shown(Duration::from_secs(seconds)), text);
        }
    }
}
