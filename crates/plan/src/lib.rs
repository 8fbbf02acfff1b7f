//! What was decided about a flake's launches beforehand, so that a launch has nothing left to look up.
//!
//! A plan says which way a launch goes: straight from the image's layers, by a [`Recipe`] that podman's own
//! runtime spec was turned into, or through podman and the agent, and why. It is kept in a file, and is good as
//! long as everything that it was made from is what it was.

mod basis;
mod file;
mod recipe;
mod upper;

pub use basis::Basis;
pub use file::{Plan, PlanError, Summary, Way};
pub use recipe::{
    Capabilities, Device, IdMap, Layers, Mount, MountFlags, MountKind, Namespaces, Process, Recipe, Rlimit,
    Seccomp, Sysctl, UserSpace,
};
pub use upper::{Entry, EntryKind};
