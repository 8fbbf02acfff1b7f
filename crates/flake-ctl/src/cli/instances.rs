//! The verbs about kept instances.

use clap::Args;
use std::ffi::OsString;

const NAMES: &str = "\
APP is the name of a command whose instances are kept, as flake-ctl list has it; @NAME says which instance, as in a call \
APP @NAME. Without it the one that has no name is meant, else the only one.

Root works on its own instances; those that other users have of commands that run as root are in root's store too, \
and --user says whose.";

const CP_MORE: &str = "\
One of the two is inside an instance: APP:/PATH or APP@NAME:/PATH; it need not run. The other is a path on the host, or - \
for a tar archive on standard output or from standard input. A path on the host with a colon in it begins with / or ./.

A folder is copied with all that is in it: into the target where that is a folder, else under the target's name; FOLDER/. \
is only what is in it. What goes in belongs to the application's user, what comes out to the caller.

Examples:
  flake-ctl cp dev:/etc/os-release .
  flake-ctl cp ./src dev@other:/srv
  flake-ctl cp dev:/srv - | gzip > srv.tar.gz";

/// Whose.
#[derive(Debug, Args)]
pub(crate) struct WhoseFlag {
    /// Another user's, in root's store; only root may
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_long_help = NAMES)]
#[group(id = "which", required = true, multiple = false, args = ["instance", "all"])]
pub(crate) struct StopArgs {
    /// The instance; several may be named
    #[arg(value_name = "APP[@NAME]")]
    pub(crate) instance: Vec<OsString>,
    /// All that run
    #[arg(long)]
    pub(crate) all: bool,
    /// How long they may take to end, in seconds, before they are killed
    #[arg(long, short, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) time: u32,
    #[command(flatten)]
    pub(crate) whose: WhoseFlag,
}

#[derive(Debug, Args)]
#[command(after_long_help = NAMES)]
pub(crate) struct RmArgs {
    /// The instance; several may be named
    #[arg(value_name = "APP[@NAME]", required = true)]
    pub(crate) instance: Vec<OsString>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Do not ask, and end what runs in them
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) whose: WhoseFlag,
}

#[derive(Debug, Args)]
#[command(after_long_help = NAMES)]
pub(crate) struct LogsArgs {
    /// The instance
    #[arg(value_name = "APP[@NAME]")]
    pub(crate) instance: OsString,
    /// Go on with what comes, until it stops
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only the last lines
    #[arg(long, short = 'n', visible_alias = "tail", value_name = "LINES")]
    pub(crate) lines: Option<u32>,
    #[command(flatten)]
    pub(crate) whose: WhoseFlag,
}

#[derive(Debug, Args)]
#[command(after_long_help = NAMES)]
pub(crate) struct AttachArgs {
    /// The instance
    #[arg(value_name = "APP[@NAME]")]
    pub(crate) instance: OsString,
}

#[derive(Debug, Args)]
#[command(after_long_help = CP_MORE)]
pub(crate) struct CpArgs {
    /// What is copied
    #[arg(value_name = "[APP[@NAME]:]SOURCE", allow_hyphen_values = true)]
    pub(crate) source: OsString,
    /// Where to
    #[arg(value_name = "[APP[@NAME]:]TARGET", allow_hyphen_values = true)]
    pub(crate) target: OsString,
    #[command(flatten)]
    pub(crate) whose: WhoseFlag,
}
