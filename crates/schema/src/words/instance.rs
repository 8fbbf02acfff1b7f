//! Names of instances.

use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;

/// The name of an instance, without the `@` in front: 1 to 64 of letters, digits, `@`, `=`, `_`, `-`,
/// as flake-pilot 3.x has them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceName(String);

const LONGEST: usize = 64;

impl InstanceName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for InstanceName {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'@' | b'=' | b'_' | b'-');
        if (1..=LONGEST).contains(&text.len()) && text.bytes().all(allowed) {
            return Ok(Self(text.to_owned()));
        }
        Err(WordError::new(
            format!("`{}` is no name of an instance", crate::error::show(text)),
            "1 to 64 of letters, digits, `@`, `=`, `_`, `-`",
        ))
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

as_text!(InstanceName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_letters_of_3x() {
        for good in ["mine", "Junky_Jack", "a=1@b-c", &"x".repeat(64)] {
            assert!(good.parse::<InstanceName>().is_ok(), "{good}");
        }
        for bad in ["", "a/b", "a.b", "a b", "é", &"x".repeat(65)] {
            assert!(bad.parse::<InstanceName>().is_err(), "{bad}");
        }
    }
}
