//! `completions`: the script of a shell.

use crate::cli::{Cli, CompletionsArgs, NAME};
use crate::failure::Failure;
use crate::output;
use crate::report::Exit;
use clap::CommandFactory;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    output::print(&script)?;
    Ok(Exit::Done)
}
