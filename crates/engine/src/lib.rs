//! What isolates: one module per engine behind [`Engine`], and the session with the agent that is the same
//! for all of them.

pub mod guest;
pub mod podman;
pub mod rendezvous;
pub mod session;
mod start;

pub use start::{Engine, EngineError, Outcome, Started, Starter};
