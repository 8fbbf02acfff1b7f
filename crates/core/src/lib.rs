//! The use cases, free of any engine: where registrations are, what a call means, what a launch needs.
//!
//! The way of a call: [`caller`] says who calls, [`registry`] finds the registration, [`words`] takes the
//! launcher's own words from the command line, [`launch`] resolves everything an engine has to know.

pub mod caller;
pub mod draft;
pub mod environment;
pub mod gap;
pub mod guest;
pub mod host_path;
pub mod init;
pub mod instance;
pub mod launch;
pub mod list;
pub mod options;
pub mod pin;
pub mod place;
pub mod probe;
pub mod provision;
pub mod quota;
pub mod reference;
pub mod register;
pub mod registry;
pub mod remove;
pub mod share;
pub mod shipped;
pub mod store;
pub mod straight;
pub mod transaction;
pub mod update;
pub mod words;
