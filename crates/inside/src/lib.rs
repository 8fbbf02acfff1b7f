//! What is done in an application's root before it starts, by the agent and by the runner alike.

pub mod account;
pub mod program;
