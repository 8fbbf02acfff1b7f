//! A system's error in the words of a message.

use std::io;

/// The system's text, first letter small, without the number.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = match (error.raw_os_error(), text.rsplit_once(" (os error ")) {
        (Some(_), Some((words, _))) => words,
        _ => text.as_str(),
    };
    let mut signs = text.chars();
    signs.next().map(|first| first.to_lowercase().chain(signs).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_the_number() {
        assert_eq!(reason(&io::Error::from_raw_os_error(28)), "no space left on device");
        assert_eq!(reason(&io::Error::other("Ours (os error 3)")), "ours (os error 3)");
    }
}
