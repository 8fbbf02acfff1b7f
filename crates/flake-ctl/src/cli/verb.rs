//! The verbs of an engine.

use super::{RegisterArgs, UserFlag};
use crate::output::Format;
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Fetch an image from a registry
    Pull(PullArgs),
    /// Load an image from an archive
    Load(LoadArgs),
    /// Make a command out of an image
    Register(Box<RegisterArgs>),
    /// Remove a registered command, or an image with all of its commands
    Remove(RemoveArgs),
    /// Show the instances that live
    #[command(visible_alias = "show")]
    Ps(PsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    #[command(flatten)]
    pub(crate) user: UserFlag,
    /// The image's reference
    #[arg(long, value_name = "URI")]
    pub(crate) uri: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) user: UserFlag,
    /// The archive; when there is none of that name, the last in alphabetical order of those that begin so
    #[arg(long, value_name = "FILE")]
    pub(crate) oci: PathBuf,
}

#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    pub(crate) user: UserFlag,
    /// Remove this image and all commands made of it
    #[arg(long, value_name = "IMAGE", group = "what")]
    pub(crate) container: Option<String>,
    /// Remove the command at this path
    #[arg(long, value_name = "PATH", group = "what")]
    pub(crate) app: Option<PathBuf>,
    /// Also when its parts do not fit together, or instances of the image live
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PsArgs {
    #[command(flatten)]
    pub(crate) user: UserFlag,
    /// How it is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
