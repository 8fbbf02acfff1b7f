//! Runs a [`Recipe`](flake_plan::Recipe) in the foreground, without podman: the namespaces, the root out of the image's
//! layers, the mounts, the confinement that podman would have made, and the command in it.
//!
//! This process enters the namespaces itself and stays the command's parent, so the command is in the caller's
//! session, process group and terminal as any other program is. Only the processes inside have a namespace of their
//! own, whose first process reaps; it dies with this process, and with it everything inside.

#![allow(unsafe_code)]

mod bind;
mod call;
mod child;
mod confine;
mod devices;
mod error;
mod filesystem;
mod foreground;
mod hierarchy;
mod idmap;
mod init;
mod kernel;
mod keyring;
mod layers;
mod mask;
mod memory;
mod mountpoint;
mod mounts;
mod network;
mod own_program;
mod privileges;
mod root;
mod run;
mod scratch;
mod stops;
mod terminal;
mod tree;
mod upper;
mod user_namespace;

pub use call::{Bind, Call, Words};
pub use error::RunError;
pub use kernel::{is_memory_enough, why_not};
pub use run::{End, run};
pub use scratch::{Left, left};
