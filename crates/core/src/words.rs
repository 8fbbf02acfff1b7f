//! The words of a command line that are the launcher's own.
//!
//! Only leading words, and only those known: everything else is the application's. A doubled sign stands
//! for the application's own word where the single one would be the launcher's.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The launcher's own options, without the sign in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LauncherOption {
    /// `%progress`: says what goes on even without a terminal.
    Progress,
    /// `%interactive`: a terminal for the application in any case.
    Interactive,
    /// `%remove`: remove a kept instance at the end.
    Remove,
    /// `%ignore_sync_error`: host files that cannot be copied are left out.
    IgnoreSyncError,
    /// `%ignore_missing_volume_path`: volumes whose source does not exist are left out.
    IgnoreMissingVolumePath,
}

const OPTIONS: [(&[u8], LauncherOption); 5] = [
    (b"%progress", LauncherOption::Progress),
    (b"%interactive", LauncherOption::Interactive),
    (b"%remove", LauncherOption::Remove),
    (b"%ignore_sync_error", LauncherOption::IgnoreSyncError),
    (b"%ignore_missing_volume_path", LauncherOption::IgnoreMissingVolumePath),
];

/// A command line, divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The launcher's options, in their order.
    pub options: Vec<LauncherOption>,
    /// The application's words.
    pub args: Vec<OsString>,
}

impl Words {
    /// Divides the words after the command's name.
    #[must_use]
    pub fn divide(words: impl IntoIterator<Item = OsString>) -> Self {
        let mut words = words.into_iter().peekable();
        let mut options = Vec::new();
        while let Some(option) = words.peek().and_then(|word| known(word.as_bytes())) {
            options.push(option);
            words.next();
        }
        let mut args: Vec<OsString> = words.collect();
        if let Some(first) = args.first_mut()
            && let [b'%', single @ ..] = first.as_bytes()
            && known(single).is_some()
        {
            *first = OsString::from_vec(single.to_vec());
        }
        Self { options, args }
    }

    /// Whether an option was given.
    #[must_use]
    pub fn has(&self, option: LauncherOption) -> bool {
        self.options.contains(&option)
    }
}

fn known(word: &[u8]) -> Option<LauncherOption> {
    OPTIONS.iter().find(|(name, _)| *name == word).map(|(_, option)| *option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divide(words: &[&str]) -> (usize, Vec<String>) {
        let words = Words::divide(words.iter().map(OsString::from));
        (words.options.len(), words.args.into_iter().map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn only_leading_known_words_are_the_launchers() {
        assert_eq!(divide(&["%progress", "%remove", "x"]), (2, vec!["x".into()]));
        assert_eq!(divide(&["x", "%progress"]), (0, vec!["x".into(), "%progress".into()]));
        assert_eq!(divide(&["%Y", "@file", "%%Y"]), (0, vec!["%Y".into(), "@file".into(), "%%Y".into()]));
    }

    #[test]
    fn a_doubled_sign_stands_for_the_plain_word() {
        assert_eq!(divide(&["%%progress"]), (0, vec!["%progress".into()]));
        assert_eq!(divide(&["%progress", "%%progress"]), (1, vec!["%progress".into()]));
        assert_eq!(divide(&["%%%progress"]), (0, vec!["%%%progress".into()]));
    }
}
