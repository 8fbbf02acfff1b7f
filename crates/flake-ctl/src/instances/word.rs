//! `APP` and `APP@NAME`. Both parts may have an `@` in them.

use crate::failure::Failure;
use flake_schema::InstanceName;
use std::ffi::OsStr;

/// Divides a word; the longest application that is known counts, else what is before the first `@`.
pub(super) fn divide(
    word: &OsStr,
    is_known: impl Fn(&str) -> bool,
) -> Result<(String, Option<InstanceName>), Failure> {
    let Some(text) = word.to_str() else {
        return Err(Failure::new(format!("{} is not the name of a flake", word.display())));
    };
    if is_known(text) {
        return Ok((text.to_owned(), None));
    }
    let divided = || text.rmatch_indices('@').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let found =
        divided().find(|(app, _)| is_known(app)).or_else(|| divided().rfind(|(app, _)| !app.is_empty()));
    match found {
        Some((app, name)) => Ok((app.to_owned(), Some(name.parse()?))),
        None => Ok((text.to_owned(), None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(word: &str) -> Result<(String, String), String> {
        let known = |app: &str| ["dev", "a@b", "dev@home"].contains(&app);
        match divide(OsStr::new(word), known) {
            Ok((app, name)) => Ok((app, name.map(|name| name.to_string()).unwrap_or_default())),
            Err(failure) => Err(failure.text),
        }
    }

    #[test]
    fn a_word_is_an_application_and_a_name() {
        for (word, app, name) in [
            ("dev", "dev", ""),
            ("dev@x", "dev", "x"),
            ("a@b", "a@b", ""),
            ("a@b@c", "a@b", "c"),
            ("dev@home", "dev@home", ""),
            ("dev@other@2", "dev", "other@2"),
            ("none", "none", ""),
            ("none@x@y", "none", "x@y"),
            ("@x", "@x", ""),
        ] {
            assert_eq!(divided(word), Ok((app.to_owned(), name.to_owned())), "{word}");
        }
        assert!(divided("dev@a/b").unwrap_err().contains("`a/b` is no name of an instance"));
        assert!(divided("dev@").is_err());
    }
}
