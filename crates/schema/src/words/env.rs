//! Which environment variables reach an application.

use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;

/// One entry of `env`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvEntry {
    /// `NAME`: the caller's variable passes, when it is set.
    Pass(String),
    /// `PREFIX*`: every variable of the caller that begins so passes.
    Prefix(String),
    /// `NAME=value`: this value, whatever the caller has.
    Set {
        /// Name of the variable.
        name: String,
        /// Its value, may be empty.
        value: String,
    },
}

impl EnvEntry {
    /// True when a variable of the caller passes by this entry.
    pub fn passes(&self, name: &str) -> bool {
        match self {
            Self::Pass(pass) => pass == name,
            Self::Prefix(prefix) => name.starts_with(prefix.as_str()),
            Self::Set { .. } => false,
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

impl FromStr for EnvEntry {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let shown = crate::error::show(text);
        if let Some((name, value)) = text.split_once('=') {
            if is_name(name) && !value.contains('\0') {
                return Ok(Self::Set { name: name.to_owned(), value: value.to_owned() });
            }
        } else if let Some(prefix) = text.strip_suffix('*') {
            if prefix.is_empty() {
                return Err(WordError::new("`*` would pass every variable", "give a prefix: `AWS_*`"));
            }
            if is_name(prefix) {
                return Ok(Self::Prefix(prefix.to_owned()));
            }
        } else if is_name(text) {
            return Ok(Self::Pass(text.to_owned()));
        }
        Err(WordError::new(
            format!("`{shown}` is no environment variable"),
            "write `NAME`, `PREFIX*` or `NAME=value`",
        ))
    }
}

impl fmt::Display for EnvEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass(name) => f.write_str(name),
            Self::Prefix(prefix) => write!(f, "{prefix}*"),
            Self::Set { name, value } => write!(f, "{name}={value}"),
        }
    }
}

as_text!(EnvEntry);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_three_forms() {
        assert_eq!("LANG".parse(), Ok(EnvEntry::Pass("LANG".into())));
        assert_eq!("AWS_*".parse(), Ok(EnvEntry::Prefix("AWS_".into())));
        assert_eq!("A=b=c*".parse(), Ok(EnvEntry::Set { name: "A".into(), value: "b=c*".into() }));
        assert_eq!("A=".parse(), Ok(EnvEntry::Set { name: "A".into(), value: String::new() }));
        for bad in ["", "*", "A*B", "1A", "=x", "A B", "A B=1", "*A", "Ä"] {
            assert!(bad.parse::<EnvEntry>().is_err(), "{bad}");
        }
    }

    #[test]
    fn says_what_passes() {
        let entry: EnvEntry = "AWS_*".parse().unwrap();
        assert!(entry.passes("AWS_REGION") && entry.passes("AWS_") && !entry.passes("AWSX"));
        assert!(!"A=1".parse::<EnvEntry>().unwrap().passes("A"));
    }
}
