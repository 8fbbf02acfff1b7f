//! Where an application starts.

use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;

/// The working directory of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workdir {
    /// The caller's current directory.
    Cwd,
    /// What the image says.
    Image,
    /// A directory inside, absolute.
    Path(String),
}

impl FromStr for Workdir {
    type Err = WordError;

    fn from_str(word: &str) -> Result<Self, WordError> {
        match word {
            "cwd" => Ok(Self::Cwd),
            "image" => Ok(Self::Image),
            path if path.starts_with('/') => Ok(Self::Path(path.to_owned())),
            path if path.contains('/') => Err(WordError::new(
                format!("`{}` is not absolute", crate::error::show(path)),
                "write a path that begins with `/`, `cwd` or `image`",
            )),
            word => Err(WordError::unknown(word, &["cwd", "image", "/ABSOLUTE/PATH"])),
        }
    }
}

impl fmt::Display for Workdir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cwd => "cwd",
            Self::Image => "image",
            Self::Path(path) => path,
        })
    }
}

as_text!(Workdir);
