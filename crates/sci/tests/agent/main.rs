//! The agent as the launcher's side meets it: real processes in a pid namespace, every frame of the protocol.

mod client;
mod commands;
mod files;
mod framed;
mod manners;
mod terminal;
mod world;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

/// What a case returns.
type Outcome = Result<(), Box<dyn std::error::Error>>;

#[expect(clippy::print_stdout, reason = "a test says why it is skipped")]
fn main() -> ExitCode {
    if let Some(path) =
        std::env::args().nth(1).and_then(|word| word.strip_prefix("--knock=").map(String::from))
    {
        return world::knock(&path);
    }
    let arguments = Arguments::from_args();
    if let Some(reason) = world::missing() {
        println!("skipped: the agent's tests: {reason}");
        return libtest_mimic::run(&arguments, Vec::new()).exit_code();
    }
    // Before there is a second thread: starting the agent forks.
    let world = world::World::start();
    let mut trials = Vec::new();
    for (suite, cases) in [
        ("commands", commands::CASES),
        ("framed", framed::CASES),
        ("terminal", terminal::CASES),
        ("files", files::CASES),
        ("manners", manners::CASES),
    ] {
        for (name, case) in cases {
            trials.push(Trial::test(format!("{suite}::{name}"), move || {
                case(world).map_err(|error| error.to_string().into())
            }));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    world.end();
    conclusion.exit_code()
}
