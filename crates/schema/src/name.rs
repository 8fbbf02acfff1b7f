//! The name of a flake.

use crate::error::show;
use crate::words::WordError;
use crate::words::as_text;
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// Longest name in bytes: leaves room for endings and for the names of temporary files.
const LONGEST: usize = 128;

/// The name of a flake: the last part of the command's path, the stem of `NAME.yaml` and `NAME.d`.
///
/// 1 to 128 bytes of UTF-8 without slash and control characters, not beginning with `.` (a hidden file) or
/// `-` (an option). Dots inside are part of the name: `python3.11`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlakeName(String);

impl FlakeName {
    /// From the last part of a path, such as argv\[0\]; the text must be UTF-8.
    pub fn from_os(name: &OsStr) -> Result<Self, WordError> {
        match name.to_str() {
            Some(name) => name.parse(),
            None => Err(invalid(&name.to_string_lossy(), "names are UTF-8 text")),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Name of the registration file.
    pub fn file_name(&self) -> String {
        format!("{}.yaml", self.0)
    }

    /// Name of the directory with the layers above the registration file.
    pub fn dir_name(&self) -> String {
        format!("{}.d", self.0)
    }
}

fn invalid(name: &str, hint: &str) -> WordError {
    WordError::new(format!("`{}` cannot be the name of a flake", show(name)), hint)
}

impl FromStr for FlakeName {
    type Err = WordError;

    fn from_str(name: &str) -> Result<Self, WordError> {
        let hint = match name {
            "" => "it is empty",
            name if name.contains('/') => "it has a slash in it",
            name if name.starts_with(['.', '-']) => "it begins with a dot or a dash",
            name if name.chars().any(char::is_control) => "it has a control character in it",
            name if name.len() > LONGEST => "it is longer than 128 bytes",
            name => return Ok(Self(name.to_owned())),
        };
        Err(invalid(name, hint))
    }
}

impl fmt::Display for FlakeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for FlakeName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

as_text!(FlakeName);

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn dots_inside_are_part_of_the_name() {
        let name: FlakeName = "python3.11".parse().unwrap();
        assert_eq!(name.file_name(), "python3.11.yaml");
        assert_eq!(name.dir_name(), "python3.11.d");
    }

    #[test]
    fn refuses_what_is_no_file_name() {
        for bad in ["", ".", "..", "a/b", ".hidden", "-x", "a\nb", "a\0", &"x".repeat(129)] {
            assert!(bad.parse::<FlakeName>().is_err(), "{bad:?}");
        }
        assert!(FlakeName::from_os(OsStr::from_bytes(b"a\xff")).is_err());
        assert!(FlakeName::from_os(OsStr::new("g++")).is_ok());
    }
}
