//! The agent as the launcher's side meets it: real processes in a pid namespace, every frame of the protocol.
//! With `FLAKE_STAGE` it is the agent that was staged there, as it is shipped.

mod attach;
mod client;
mod commands;
mod crowd;
mod ends;
mod files;
mod framed;
mod launcher;
mod manners;
#[path = "../namespace/mod.rs"]
mod namespace;
mod scripts;
mod terminal;
mod watching;
mod world;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;
use world::World;

/// What a case returns.
type Outcome = Result<(), Box<dyn std::error::Error>>;

#[expect(clippy::print_stdout, reason = "a test says why it is skipped")]
fn main() -> ExitCode {
    let word = std::env::args().nth(1).unwrap_or_default();
    if let Some(path) = word.strip_prefix("--knock=") {
        return world::knock(path);
    }
    if let Some(path) = word.strip_prefix("--attach=") {
        return launcher::attach(path);
    }
    let arguments = Arguments::from_args();
    if let Some(reason) = world::missing() {
        println!("skipped: the agent's tests: {reason}");
        return libtest_mimic::run(&arguments, Vec::new()).exit_code();
    }
    // Before there is a second thread: starting the agent forks.
    let world = World::start();
    let mut worlds = vec![world];
    let mut trials = Vec::new();
    for (suite, cases) in [
        ("commands", commands::CASES),
        ("scripts", scripts::CASES),
        ("framed", framed::CASES),
        ("terminal", terminal::CASES),
        ("files", files::CASES),
        ("manners", manners::CASES),
    ] {
        trials.extend(cases.iter().map(|case| trial(suite, case, world)));
    }
    // Each of these has an agent of its own.
    for (suite, cases) in [
        ("attach", attach::CASES),
        ("launcher", launcher::CASES),
        ("watching", watching::CASES),
        ("crowd", crowd::CASES),
        ("ends", ends::CASES),
    ] {
        for case in cases {
            let own = World::start();
            worlds.push(own);
            trials.push(trial(suite, case, own));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    worlds.into_iter().for_each(World::end);
    conclusion.exit_code()
}

fn trial(suite: &str, case: &(&str, fn(&World) -> Outcome), world: &'static World) -> Trial {
    let (name, case) = *case;
    Trial::test(format!("{suite}::{name}"), move || case(world).map_err(|error| error.to_string().into()))
}
