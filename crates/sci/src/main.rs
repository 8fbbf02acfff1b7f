//! `sci`, the agent inside: process 1 of a container or virtual machine. It runs the commands that the
//! launcher asks for, with the launcher's own file descriptors where it can, and reaps what they leave.
//!
//! Started by podman as the container's init it finds descriptor 3 to be either a connection to its one
//! launcher, with which it ends, or a listening socket for launchers that come and go.

mod agent;
mod command;
mod connection;
mod ending;
mod files;
mod framed;
mod guests;
mod history;
mod image;
mod member;
mod ports;
mod probe;
mod script;
mod seat;
mod shared;
mod terminal;
mod watch;
mod window;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Whoever runs with the same user inside is not to look into the agent.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    flake_sys::memory::keep_little();
    let words = std::env::args_os().skip(1).collect();
    match agent::Agent::inherit(image::Image::from_words(words)).and_then(|mut agent| agent.run()) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(verdict)) => {
            say(&verdict.reason);
            ExitCode::from(verdict.status)
        }
        Err(error) => {
            say(&format!("sci: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to the container's log. At once, because the log would have two lines of what comes in two parts.
fn say(line: &str) {
    // Nobody is left to tell of a log that is gone.
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}
