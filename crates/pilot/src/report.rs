//! What the launcher says, all of it on standard error.

use flake_core::words::LauncherOption;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Something for a person: nothing without a terminal.
pub(crate) fn notice(words: &[OsString], text: &str) {
    if io::stderr().is_terminal() {
        say(words, text);
    }
}

/// What goes on meanwhile: for a person, or where the call asks for it.
pub(crate) fn progress(words: &[OsString], options: &[LauncherOption], text: &str) {
    if options.contains(&LauncherOption::Progress) { say(words, text) } else { notice(words, text) }
}

/// What the agent says to a person.
pub(crate) fn note(text: &str) {
    notice(&own_name(), text);
}

/// The command line up to the words of the call.
pub(crate) fn own_name() -> Vec<OsString> {
    std::env::args_os().take(1).collect()
}

/// A line that begins with the command's name.
pub(crate) fn say(words: &[OsString], text: &str) {
    let name = words.first().map(Path::new).and_then(Path::file_name).unwrap_or("flake-pilot".as_ref());
    // Words of the image or the agent may be in it.
    let text: String = text.chars().filter(|sign| *sign == '\n' || !sign.is_control()).collect();
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(io::stderr(), "{}: {text}", name.to_string_lossy());
}
