//! `completions`: the script of a shell.

use crate::cli::{Cli, CompletionsArgs, NAME};
use crate::failure::Failure;
use crate::output;
use crate::report::Exit;
use clap::CommandFactory;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    output::print(mended(&String::from_utf8_lossy(&script)).as_bytes())?;
    Ok(Exit::Done)
}

/// The script for bash spells a name with a dash in two ways, so that it finds no verb: clap-rs/clap#6421.
fn mended(script: &str) -> String {
    let (spelled, meant) = (NAME.replace('-', "__subcmd__"), NAME.replace('-', "__"));
    script.replace(&spelled, &meant)
}
