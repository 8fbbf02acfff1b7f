//! External programs, one module each: how they are called, from which version on, and what their
//! errors mean. Arguments are vectors; nothing goes through a shell.

pub mod podman;
mod program;
mod run;
pub mod skopeo;
pub mod sudo;
pub mod users;

pub use program::Program;
pub use run::{ToolError, capture, reason, show};
