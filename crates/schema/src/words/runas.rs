//! Who runs the engine.

use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;

/// Whose store and privileges a flake uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunAs {
    /// Root's own store, through sudo for others.
    Root,
    /// The calling user, rootless.
    Caller,
    /// A user name, as flake-pilot 3.x wrote it; it means the caller.
    Named(String),
}

impl RunAs {
    /// True when the engine runs as root.
    pub fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }
}

impl From<&str> for RunAs {
    fn from(word: &str) -> Self {
        match word {
            "root" => Self::Root,
            "caller" => Self::Caller,
            name => Self::Named(name.to_owned()),
        }
    }
}

impl FromStr for RunAs {
    type Err = WordError;

    fn from_str(word: &str) -> Result<Self, WordError> {
        if word.is_empty() || word.chars().any(char::is_whitespace) {
            return Err(WordError::new(
                format!("`{}` is no user", crate::error::show(word)),
                "write `caller` or `root`",
            ));
        }
        Ok(Self::from(word))
    }
}

impl fmt::Display for RunAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root",
            Self::Caller => "caller",
            Self::Named(name) => name,
        })
    }
}

as_text!(RunAs);
