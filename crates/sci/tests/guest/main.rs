//! Provisioning and probing as the launcher does them, with a real agent in namespaces of its own.

mod ends;
mod files;
#[path = "../namespace/mod.rs"]
mod namespace;
mod probes;
mod provisioning;
mod scripts;
mod world;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

/// What a case returns.
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A case, by its name.
type Case = (&'static str, fn(&world::World) -> Outcome);

#[expect(clippy::print_stdout, reason = "a test says why it is skipped")]
fn main() -> ExitCode {
    if let Some(socket) =
        std::env::args().nth(1).and_then(|word| word.strip_prefix("--provision=").map(String::from))
    {
        return ends::provision(&socket);
    }
    let arguments = Arguments::from_args();
    if let Some(reason) = world::missing() {
        println!("skipped: provisioning and probing with an agent: {reason}");
        return libtest_mimic::run(&arguments, Vec::new()).exit_code();
    }
    // Before there is a second thread: starting an agent forks.
    let world = world::World::start();
    let alone = world::World::start();
    let mortal = world::World::start();
    let mut trials = Vec::new();
    for (suite, world, cases) in [
        ("scripts", world, scripts::CASES),
        ("files", world, files::CASES),
        ("provisioning", world, provisioning::CASES),
        ("provisioning", alone, provisioning::ALONE),
        ("probes", world, probes::CASES),
        ("ends", world, ends::CASES),
        ("ends", mortal, ends::LAST),
    ] {
        for (name, case) in cases {
            trials.push(Trial::test(format!("{suite}::{name}"), move || {
                case(world).map_err(|error| error.to_string().into())
            }));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    world.end();
    alone.end();
    mortal.end();
    conclusion.exit_code()
}
