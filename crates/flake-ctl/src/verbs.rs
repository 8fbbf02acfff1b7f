//! What each verb does, a file each.

mod attach;
mod completions;
mod cp;
mod init;
mod list;
mod load;
mod logs;
mod man;
mod plan;
mod ps;
mod pull;
mod register;
mod remove;
mod rm;
mod stop;
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
            Verb::Ps(args) => ps::run(&args),
        },
        Command::Stop(args) => stop::run(&args),
        Command::Rm(args) => rm::run(&args),
        Command::Logs(args) => logs::run(&args),
        Command::Attach(args) => attach::run(&args),
        Command::Cp(args) => cp::run(&args),
        Command::List(args) => list::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Update(args) => update::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
