//! What each verb does, a file each.

mod completions;
mod init;
mod list;
mod load;
mod man;
mod plan;
mod pull;
mod register;
mod remove;
mod show;
mod update;
mod validate;

use crate::cli::{Command, Podman, Verb};
use crate::failure::Failure;
use crate::report::Exit;

/// Does what the command line says.
pub(crate) fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Podman(Podman { verb, .. }) | Command::Verb(verb) => match verb {
            Verb::Pull(args) => pull::run(&args),
            Verb::Load(args) => load::run(&args),
            Verb::Register(args) => register::run(&args),
            Verb::Remove(args) => remove::run(&args),
            Verb::Show(args) => show::run(&args),
        },
        Command::List(args) => list::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Update(args) => update::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
