//! Standard error, and how the process ends.

use crate::cli::NAME;
use crate::failure::Failure;
use flake_sys::{interrupt, signals};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

/// How a verb ended that did what it could.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is done.
    Done,
    /// Something was not, and it was said what.
    Incomplete,
    /// An external program spoke for itself.
    External(ExitStatus),
}

/// Something a person should know, although all went well.
pub(crate) fn note(text: &str) {
    say(&format!("note: {text}"));
}

/// What failed, and what to do next.
pub(crate) fn fail(failure: &Failure) {
    let hint = failure.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    say(&format!("{NAME}: {}{hint}", failure.text));
}

/// A line on standard error, as it is.
pub(crate) fn say(line: &str) {
    // In one piece, since others may write there as well. Nobody is left to be told when this fails.
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// The exit status of the process. Does not return when a signal asked it to stop and it did.
pub(crate) fn end(result: Result<Exit, Failure>) -> ExitCode {
    match result {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Incomplete) => ExitCode::FAILURE,
        Ok(Exit::External(status)) => ExitCode::from(code(status)),
        Err(failure) => {
            if let Some(signal) = interrupt::pending() {
                signals::die_by(signal);
            }
            fail(&failure);
            ExitCode::FAILURE
        }
    }
}

/// As a shell has it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
