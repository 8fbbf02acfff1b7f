//! The options of `plan` and `update`: what is done about a registered command's image.

use super::UserFlag;
use crate::output::Format;
use clap::{Args, ValueEnum};
use std::ffi::OsString;

const PLAN_MORE: &str = "\
An immutable command is launched straight from the layers of its image (the runner's way), with the isolation that \
podman gives it, or through podman and the agent inside, where its options need more than the runner does; then the \
reason is said. The plan of it is made when the command is registered or updated, and anew by itself when what it was \
made from has changed.";

const UPDATE_MORE: &str = "\
A command keeps its image, whatever becomes of the name that the image had, until this verb moves it. An image of a \
registry is fetched; one of this host (localhost/...) is the one that has the name now. Instances that live are not \
touched.

The image before the update is kept as well, and --rollback returns to it; the one it leaves is then the one before, so \
that a second --rollback undoes the first. Of a system command that runs as its caller every user takes the image along at \
the next call.

--dry-run changes nothing. It asks the registry for the digest with skopeo.";

/// How a plan is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For a person to read
    #[default]
    Text,
    /// Everything, as an object
    Json,
    /// Everything, as a mapping
    Yaml,
}

/// Which of two registrations of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeWord {
    /// Everybody's
    System,
    /// The user's own
    User,
}

#[derive(Debug, Args)]
#[command(after_long_help = PLAN_MORE)]
pub(crate) struct PlanArgs {
    /// The command's name
    #[arg(value_name = "NAME")]
    pub(crate) name: OsString,
    /// Make it anew, say nothing
    #[arg(long)]
    pub(crate) renew: bool,
    /// Where there are two of the name
    #[arg(long, value_enum, hide = true)]
    pub(crate) scope: Option<ScopeWord>,
    /// How it is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", conflicts_with = "renew")]
    pub(crate) format: PlanFormat,
}

#[derive(Debug, Args)]
#[command(after_long_help = UPDATE_MORE)]
#[group(id = "which", required = true, multiple = false, args = ["name", "all"])]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    pub(crate) user: UserFlag,
    /// The command's name
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<OsString>,
    /// All commands: root's are the system's, a normal user's the own
    #[arg(long)]
    pub(crate) all: bool,
    /// Only say what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Return to the image before the last update
    #[arg(long)]
    pub(crate) rollback: bool,
    /// How it is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
