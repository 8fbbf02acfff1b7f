//! What the tests of Flake Pilot stand on.
//!
//! Tests of a launcher need users, subordinate ids, sudo rules and podman stores, and none of that may be
//! made on the machine they run on. So a test binary calls [`run`] as its whole `main`: it re-executes itself
//! inside a [`ScratchHost`], a set of private namespaces that looks like this machine, in which everything
//! can be changed.
//!
//! * [`run`], [`Suite`], [`trial`]: the harness
//! * [`ScratchHost`]: the host, its [`users`](User), its podman stores, the installed product
//! * [`Image`]: small images made without any registry
//! * [`Subject`]: something that can be called like a native command
//! * [`Terminal`]: a command under a pseudo terminal, with a deadline on everything
//! * [`Call`], [`Outcome`], [`Conversation`], [`processes`]: running commands and looking at what they leave

mod call;
mod cgroups;
mod conversation;
mod error;
mod gate;
mod harness;
mod host;
mod image;
mod init;
mod mounts;
mod podman_conf;
mod product;
mod rounds;
mod scratch;
mod screen;
mod subject;
mod terminal;
mod user;
mod wait;

pub mod processes;

pub use call::{Call, Outcome};
pub use conversation::Conversation;
pub use error::{Error, Result};
pub use gate::{missing, test_data};
pub use harness::{Suite, run, trial};
pub use host::ScratchHost;
pub use image::Image;
pub use rounds::rounds;
pub use subject::{AGENT_WAY, Subject};
pub use terminal::{Ended, Terminal};
pub use user::{ADA, BOB, NOSUB, ROOT, User};
pub use wait::{DEADLINE, until};
