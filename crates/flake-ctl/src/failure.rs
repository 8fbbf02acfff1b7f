//! What is said when something fails.

use flake_sys::reason::reason;
use std::io;

/// A failure, as the user reads it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What failed, on what.
    pub(crate) text: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), hint: None }
    }

    pub(crate) fn system(what: &str, error: &io::Error) -> Self {
        Self::new(format!("{what}: {}", reason(error)))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Not an error itself, so that every error becomes one.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
