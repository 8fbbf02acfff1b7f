//! What a value of a file does wrong, with the path of its key and its place.

use crate::node::{Mark, Node};
use crate::words::HINT_MARK;
use serde::de::{self, Expected, Unexpected};
use std::fmt;

/// What a value of a file does wrong.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Option<Mark>,
    /// Steps from the value outwards: `runtime`, `[2]`.
    steps: Vec<String>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    UnknownKey { key: String, known: &'static [&'static str] },
    DuplicateKey { key: String, first: u32 },
    WrongType { expected: String, found: String },
    Other { message: String, hint: Option<String> },
}

impl Fault {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { place: None, steps: Vec::new(), kind }
    }

    pub(crate) fn wrong_type(node: &Node, expected: impl Into<String>) -> Self {
        Self::new(Kind::WrongType { expected: expected.into(), found: node.kind() }).at(node.at)
    }

    pub(crate) fn at(mut self, at: Mark) -> Self {
        self.place.get_or_insert(at);
        self
    }

    pub(crate) fn inside(mut self, step: impl Into<String>) -> Self {
        self.steps.push(step.into());
        self
    }

    /// Path of the value, `container.runtime.share[2]`; empty for the whole file.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps.iter().rev() {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(step);
        }
        path
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        let (message, hint) = match text.split_once(HINT_MARK) {
            Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
            None => (text, None),
        };
        Self::new(Kind::Other { message, hint })
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Kind::WrongType { expected: expected.to_string(), found: "something else".to_owned() })
    }

    fn invalid_value(found: Unexpected<'_>, _: &dyn Expected) -> Self {
        let message = match found {
            Unexpected::Unsigned(number) => format!("{number} is too large"),
            Unexpected::Signed(number) => format!("{number} is out of range"),
            _ => "this value is not allowed".to_owned(),
        };
        Self::new(Kind::Other { message, hint: None })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownKey { key: key.to_owned(), known })
    }
}
