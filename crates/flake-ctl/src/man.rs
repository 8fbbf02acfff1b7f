//! Manual pages, made from the same definitions that the programs work with.

use crate::cli::Cli;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_mangen::Man;

/// Every page: file name and text.
pub(crate) fn pages() -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    commands(&command, &mut pages)?;
    Ok(pages)
}

fn commands(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<(), Failure> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push((man.get_filename(), text));
    command.get_subcommands().try_for_each(|verb| commands(verb, pages))
}
