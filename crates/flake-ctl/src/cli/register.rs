//! The options of `register`.

use super::UserFlag;
use clap::{Args, ValueEnum};
use flake_schema::{EnvEntry, InstanceName, Network, Scratch, Share, Workdir};
use std::path::PathBuf;

/// What the short help has no room for.
const MORE: &str = "\
A normal user's registrations are the user's own. Root's are the system's: everybody can call them, and with \
`--run-as caller` everybody has the image in the own store from the first call on.

An image may bring a registration along, the file /NAME.yaml in its root, where NAME is the last part of the \
image's name. It gives what the command line leaves out: target, type, resume, attach, workdir, and a network \
that is none or private. The shares and variables in it are asked for. Nothing else in it counts.

Examples:
  flake-ctl podman register --container docker.io/amazon/aws-cli --app ~/bin/aws --target / \\
      --share cwd --env 'AWS_*'
  flake-ctl podman register --container localhost/tool --info
  flake-ctl podman register --container localhost/tool --app ~/bin/tool --opt '\\--volume /a:/b'";

/// Whose store and rights a flake uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunAsWord {
    /// The calling user's
    Caller,
    /// Root's, through sudo for others
    Root,
}

#[derive(Debug, Args)]
#[command(after_long_help = MORE)]
pub(crate) struct RegisterArgs {
    #[command(flatten)]
    pub(crate) user: UserFlag,
    /// The image; it has to be here: flake-ctl podman pull
    #[arg(long, value_name = "IMAGE")]
    pub(crate) container: String,
    /// The command's path on the host, absolute; without it the image has to propose a name
    #[arg(long, value_name = "PATH", conflicts_with = "info")]
    pub(crate) app: Option<PathBuf>,
    /// Show the registration that the image brings along, register nothing
    #[arg(long)]
    pub(crate) info: bool,
    /// The program inside, absolute; `/` is the image's entrypoint [default: the command's path]
    #[arg(long, value_name = "PATH")]
    pub(crate) target: Option<PathBuf>,
    /// An image below the application's own
    #[arg(long, value_name = "IMAGE")]
    pub(crate) base: Option<String>,
    /// An image between base and application; may be repeated, the first is the lowest
    #[arg(long, value_name = "IMAGE", requires = "base")]
    pub(crate) layer: Vec<String>,
    /// Copy the host files that the images list as missing
    #[arg(long, alias = "check_host_dependencies")]
    pub(crate) check_host_dependencies: bool,
    /// A package of the host whose files the application sees; may be repeated
    #[arg(long, value_name = "PACKAGE")]
    pub(crate) hostsystem: Vec<String>,
    /// A tar archive to unpack into the image; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) include_tar: Vec<PathBuf>,
    /// A file or folder to copy into the image; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) include_path: Vec<PathBuf>,
    /// Keep the instance and run further calls in it
    #[arg(long, conflicts_with = "attach")]
    pub(crate) resume: bool,
    /// Keep the instance and join its terminal
    #[arg(long)]
    pub(crate) attach: bool,
    /// Keep the instance: `type: mutable`
    #[arg(long)]
    pub(crate) mutable: bool,
    /// The name of a kept instance that several flakes share
    #[arg(long, value_name = "NAME")]
    pub(crate) instance: Option<InstanceName>,
    /// Network: the host's own, none, or a private one that reaches outside
    /// [default: host; private for --run-as root]
    #[arg(long, value_name = "host|none|private")]
    pub(crate) network: Option<Network>,
    /// What of the host it sees: cwd, home or an absolute path, each with `:ro` for reading only; may be repeated
    #[arg(long, value_name = "WHAT")]
    pub(crate) share: Vec<Share>,
    /// Which variables reach it: NAME, PREFIX* or NAME=VALUE; may be repeated
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) env: Vec<EnvEntry>,
    /// Where it starts: cwd, image or a path inside [default: cwd where that is shared, else image]
    #[arg(long, value_name = "WHERE")]
    pub(crate) workdir: Option<Workdir>,
    /// Whose store and rights it uses [default: caller]
    #[arg(long, value_enum, value_name = "caller|root", hide_possible_values = true)]
    pub(crate) run_as: Option<RunAsWord>,
    /// The application is the caller: uid, home and time zone; implied by --share
    #[arg(long, conflicts_with = "as_image")]
    pub(crate) as_caller: bool,
    /// The application is the user that the image says, also with --share
    #[arg(long)]
    pub(crate) as_image: bool,
    /// Where what it writes into its root is kept until it is thrown away: memory, at most half of it, or disk
    /// [default: memory]
    #[arg(long, value_name = "memory|disk")]
    pub(crate) scratch: Option<Scratch>,
    /// An option of podman with its value, in one word: --opt '\--volume a:b'; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) opt: Vec<String>,
    /// Replace what stands at the path and what is registered under the name
    #[arg(long)]
    pub(crate) force: bool,
    /// Take the name, the shares and the variables that the image proposes, without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Do not look at the registration that the image brings along
    #[arg(long, conflicts_with_all = ["info", "yes"])]
    pub(crate) no_shipped: bool,
}
