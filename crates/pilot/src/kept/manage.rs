//! `APP flake ...`: what is done with instances beside running something in them.

use super::interruptible;
use super::question::{self, Answer};
use crate::ending::{Ending, Refusal};
use flake_core::instance::{FlakeVerb, Instance, KeptCall, Notes};
use flake_engine::podman::Keeper;
use flake_engine::session::Streams;
use flake_schema::FlakeName;
use flake_wire::Source;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// What `APP flake --help` explains: what follows the command, and what it does.
const HELP: [(&str, &str); 8] = [
    ("WORDS...", "run in the instance, which is made at the first call"),
    ("@NAME WORDS...", "run in the instance of this name, likewise"),
    ("flake list", "the instances"),
    ("flake new[=NAME]", "run in a new instance"),
    ("flake resume=NAME", "run in an instance that is there"),
    ("flake remove=NAME", "remove an instance, with its data"),
    ("flake update", "make an instance anew, from image and flake as they are now"),
    ("flake args WORDS...", "run with these words, whatever they are; also behind new and resume"),
];

fn help(app: &FlakeName) -> String {
    HELP.iter().map(|(words, meaning)| format!("{app} {words:20}  {meaning}\n")).collect()
}

/// What a call prints that needs no instance; nothing where the call does.
pub(crate) fn text(call: &KeptCall, app: &FlakeName, notes: &Notes) -> Option<String> {
    match call.verb {
        FlakeVerb::Help => Some(help(app)),
        FlakeVerb::List => Some(list(notes)),
        _ => None,
    }
}

/// Prints it.
pub(crate) fn print(text: &str) -> Ending {
    // As with any command: whoever closes the pipe has read enough.
    let _ = io::stdout().write_all(text.as_bytes());
    Ending::Status(0)
}

/// Nobody can be asked which of them is meant.
pub(super) fn several(app: &FlakeName, labels: &[&str]) -> Refusal {
    let first = labels.first().copied().unwrap_or_default();
    let all = labels.join(", ");
    Refusal::Other(format!("there are several instances: {all}; name one, as in: {app} @{first}"))
}

/// What runs in it would be ended.
pub(crate) fn in_use(instance: &Instance) -> Refusal {
    Refusal::Other(format!("instance {} is in use", instance.label()))
}

/// The same, with the words that end it.
pub(crate) fn in_use_until(instance: &Instance, app: &FlakeName, rm: &str) -> Refusal {
    let (label, called) = (instance.label(), instance.called_by(app.as_str()));
    Refusal::Other(format!("instance {label} is in use; to end what runs in it: {rm} {called}"))
}

/// The instance is not what a new one would be.
pub(crate) fn outdated(app: &FlakeName) -> String {
    format!("image or flake have changed since this instance was made; to make it anew: {app} flake update")
}

/// An attached application shares a terminal, and has nothing else.
pub(crate) fn check_seat(streams: &Streams) -> Result<(), Refusal> {
    let text = if streams.window.is_none() {
        "joins a terminal that is shared, so it has to be called on one; see: man script"
    } else if streams.table.iter().any(|stream| stream.source != Source::Terminal) {
        "joins a terminal that is shared, so neither its input nor its output can be redirected"
    } else {
        return Ok(());
    };
    Err(Refusal::Other(text.to_owned()))
}

/// Asks whether the data of an instance may go. Gives how the call ends where not.
pub(crate) fn may_remake(app: &FlakeName, label: &str) -> Result<Option<Ending>, Refusal> {
    if !question::is_possible() {
        return Err(Refusal::Other(format!(
            "update loses all data in instance {label}, which is asked on a terminal; without one: \
             {app} flake remove={label}, then call it again"
        )));
    }
    let text = format!("All data in instance {label} of {app} will be lost. Make it anew?");
    Ok(match question::confirm(&text)? {
        Answer::Given(true) => None,
        Answer::Given(false) => Some(Ending::Status(1)),
        Answer::Signal(signal) => Some(Ending::Signal(signal)),
    })
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
    let closed = keeper.notes.close(keeper.instance);
    let _closed = closed.ok_or_else(|| in_use_until(keeper.instance, app, "flake-ctl rm --force"))?;
    interruptible(|| Ok(keeper.remove()?))
        .map(|done| done.map_or_else(|ending| ending, |()| Ending::Status(0)))
}

/// `flake update`: what is in the instance is lost, so it is asked first.
pub(super) fn update(keeper: &Keeper<'_>, app: &FlakeName) -> Result<Ending, Refusal> {
    let label = keeper.instance.label();
    if let Some(ending) = may_remake(app, label)? {
        return Ok(ending);
    }
    let closed = keeper.notes.close(keeper.instance).ok_or_else(|| in_use(keeper.instance))?;
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
