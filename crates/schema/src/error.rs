//! Errors of files, as people read them: place, offending line, what to write instead.

use crate::node::Mark;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Longest piece of a file shown in a message, in characters.
const SHOWN: usize = 64;
/// Longest line shown below a message, in characters.
const LINE_SHOWN: usize = 100;

/// A piece of a file made fit for a message: no control characters, bounded.
pub(crate) fn show(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).map(harmless).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Replaces what would move the cursor, change colours or the direction of writing.
fn harmless(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
            '\u{fffd}'
        }
        c => c,
    }
}

/// One thing that is wrong in a file.
///
/// Prints as `FILE:LINE:COLUMN: MESSAGE`, then the line with the place marked, then `hint: ...`; plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Path of the file, or what stands for it.
    pub origin: String,
    /// Line from 1; 0 when the file as a whole is meant.
    pub line: u32,
    /// Column in characters from 1; 0 when the file as a whole is meant.
    pub column: u32,
    /// The line, and below it the marks.
    pub snippet: Option<(String, String)>,
    /// What is wrong; one line.
    pub message: String,
    /// What to do; one line.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// About a file as a whole.
    pub(crate) fn whole(origin: &str, message: impl Into<String>, hint: Option<String>) -> Self {
        let (message, origin) = (message.into(), origin.to_owned());
        Self { origin, line: 0, column: 0, snippet: None, message, hint }
    }

    /// About a place in a text.
    pub(crate) fn at(origin: &str, text: &str, at: Mark, message: String, hint: Option<String>) -> Self {
        let index = usize::try_from(at.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let snippet = line_breaks(text).split('\n').nth(index).map(|line| snippet(line, at));
        Self { origin: origin.to_owned(), line: at.line, column: at.column, snippet, message, hint }
    }
}

/// A text whose lines all end as YAML counts them, in a line feed.
pub(crate) fn line_breaks(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The part of a line around the mark, and carets below it.
fn snippet(line: &str, at: Mark) -> (String, String) {
    let column = usize::try_from(at.column.saturating_sub(1)).unwrap_or(0);
    let width = usize::try_from(at.width).unwrap_or(1);
    let skip = if column > LINE_SHOWN * 3 / 4 { column - LINE_SHOWN / 4 } else { 0 };
    let mut shown = String::new();
    let mut lead = column - skip;
    if skip > 0 {
        shown.push_str("...");
        lead += 3;
    }
    shown.extend(line.chars().skip(skip).take(LINE_SHOWN).map(harmless));
    if line.chars().nth(skip + LINE_SHOWN).is_some() {
        shown.push_str("...");
    }
    let room = shown.chars().count().saturating_sub(lead).max(1);
    let carets = format!("{}{}", " ".repeat(lead), "^".repeat(width.clamp(1, room)));
    (shown.trim_end().to_owned(), carets)
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin: String = self.origin.chars().map(harmless).collect();
        f.write_str(&origin)?;
        match self.line {
            0 => write!(f, ": {}", self.message)?,
            line => write!(f, ":{line}:{}: {}", self.column, self.message)?,
        }
        if let Some((line, carets)) = &self.snippet {
            let number = self.line.to_string();
            write!(f, "\n  {number} | {line}\n  {:pad$} | {carets}", "", pad = number.len())?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong, never empty; printed one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(pub(crate) Vec<Diagnostic>);

impl Diagnostics {
    /// The single diagnostics, in the order of the files and lines.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self(vec![one])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.0.iter().enumerate() {
            f.write_str(if index > 0 { "\n" } else { "" })?;
            one.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Why a file could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read, or is nothing to read.
    #[error("{}: {reason}", show_path(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is the matter with it.
        reason: String,
        /// The system's error, [`io::ErrorKind::Other`] when it is ours.
        kind: io::ErrorKind,
    },
    /// The file is read, and its content is wrong.
    #[error(transparent)]
    Invalid(#[from] Diagnostics),
}

impl LoadError {
    /// True when the file itself does not exist (a dangling link does).
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Unreadable { kind: io::ErrorKind::NotFound, .. })
    }

    /// What is wrong in the content; `None` when nothing could be read.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match self {
            Self::Invalid(diagnostics) => Some(diagnostics),
            Self::Unreadable { .. } => None,
        }
    }
}

/// A path for a message.
pub(crate) fn show_path(path: &Path) -> String {
    path.to_string_lossy().chars().map(harmless).collect()
}

/// A file that would not read back as what was to be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot be written as YAML: {0}")]
pub struct WriteError(pub(crate) String);
