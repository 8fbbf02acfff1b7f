//! `sci`, the agent inside: process 1 of a container or virtual machine. It runs the commands that the
//! launcher asks for, with the launcher's own file descriptors where it can, and reaps what they leave.
//!
//! Started by podman as the container's init it finds descriptor 3 to be either a connection to its one
//! launcher, with which it ends, or a listening socket for launchers that come and go.

mod agent;
mod command;
mod connection;
mod files;
mod framed;
mod image;
mod ports;
mod script;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Whoever runs with the same user inside is not to look into the agent.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let words = std::env::args_os().skip(1).collect();
    match agent::Agent::inherit(image::Image::from_words(words)).and_then(|mut agent| agent.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the one place where the agent speaks: the container's log")]
fn complain(error: &std::io::Error) {
    eprintln!("sci: {error}");
}
