//! The command line: only what can be written, nothing of what it does.

mod image;
mod instances;
mod register;
mod verb;

pub(crate) use image::{PlanArgs, PlanFormat, ScopeWord, UpdateArgs};
pub(crate) use instances::{AttachArgs, CpArgs, LogsArgs, RmArgs, StopArgs};
pub(crate) use register::{RegisterArgs, RunAsWord};
pub(crate) use verb::{LoadArgs, PsArgs, PullArgs, RemoveArgs, Verb};

use crate::output::Format;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The command's name in messages and pages.
pub(crate) const NAME: &str = "flake-ctl";
/// Names of links to it that it answers to as well, from older releases.
const OTHER_NAMES: [&str; 2] = ["oci-ctl", "oci-register"];

/// Commands that live in isolated environments and are called like native ones
#[derive(Debug, Parser)]
#[command(name = NAME, version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "The verbs of podman may be written without the engine's word: flake-ctl register ..."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Applications in podman containers
    Podman(Podman),
    #[command(flatten)]
    Verb(Verb),
    /// End instances; the next call starts them again
    Stop(StopArgs),
    /// Remove instances with all that is in them
    Rm(RmArgs),
    /// Show what an instance has said by itself
    Logs(LogsArgs),
    /// Join the terminal of an application that runs
    Attach(AttachArgs),
    /// Copy files into or out of an instance
    Cp(CpArgs),
    /// List what is registered
    List(ListArgs),
    /// Show how a command is launched, and why so
    Plan(PlanArgs),
    /// Take the newer image of a command, or go back to the one before
    Update(UpdateArgs),
    /// Set up a user's folders and settings as flake-pilot 3.x has them
    Init(InitArgs),
    /// Check a flake file or settings file
    Validate(ValidateArgs),
    /// Write the completion script of a shell to standard output
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder
    Man(ManArgs),
}

#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Podman {
    #[command(flatten)]
    pub(crate) user: UserFlag,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Normal users work on their own registrations, root on the system's, so the word is only accepted.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct UserFlag {
    /// Work on the user's own registrations; implied for normal users, ignored for root
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only the user's own, not the system's; ignored for root
    #[arg(long)]
    pub(crate) user: bool,
    /// How it is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Confirm that it is for a user; root has no user's folders
    #[arg(long)]
    pub(crate) user: bool,
    /// Write files anew that are there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// A path, or the name of a registered flake
    #[arg(value_name = "FILE|NAME")]
    pub(crate) what: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Whose script
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Where to; made when absent
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Reads a command line; its first word decides which name the usage shows.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let called = words.first().map_or(NAME, |word| called_name(word));
    let mut command = Cli::command().name(called).bin_name(called);
    let matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn called_name(word: &OsStr) -> &'static str {
    let name = Path::new(word).file_name();
    OTHER_NAMES.into_iter().find(|other| name == Some(OsStr::new(other))).unwrap_or(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Cli, clap::Error> {
        parse(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_engine_may_be_left_out() {
        for line in [
            "flake-ctl podman register --container joe --app /usr/bin/joe --base basesystem",
            "flake-ctl podman --user register --container joe --app /usr/bin/joe --base basesystem",
            "oci-ctl register --container joe --app /usr/bin/joe --base basesystem",
            "/usr/bin/oci-register register --user --container joe --app /usr/bin/joe --base basesystem",
        ] {
            let cli = parsed(line).unwrap();
            let (Command::Verb(Verb::Register(args))
            | Command::Podman(Podman { verb: Verb::Register(args), .. })) = cli.command
            else {
                panic!("{line}");
            };
            assert_eq!(
                (args.container.as_str(), args.base.as_deref()),
                ("joe", Some("basesystem")),
                "{line}"
            );
        }
    }

    #[test]
    fn unknown_engines_are_the_parsers_to_refuse() {
        for line in ["flake-ctl firecracker show", "flake-ctl vm list", "flake-ctl northstar", "flake-ctl"] {
            assert_eq!(parsed(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn the_usage_shows_the_called_name() {
        let usage = |line| parsed(line).unwrap_err().to_string();
        assert!(usage("/opt/oci-ctl pull").contains("Usage: oci-ctl pull --uri <URI>"));
        assert!(usage("other pull").contains("Usage: flake-ctl pull --uri <URI>"));
    }
}
