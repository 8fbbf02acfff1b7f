//! Calls with root's rights. The caller's launcher stays and is the one that the terminal, the shell and
//! signals see; sudo starts a second launcher that checks everything again, starts the environment and
//! hands the session back.

pub(crate) mod ask;
mod borrow_kept;
pub(crate) mod lend;
mod lend_kept;
mod message;
mod privileged;
mod trust;
