//! One YAML text with its origin: from bytes to types, with errors that show the place.

use crate::check::Problem;
use crate::decode::decode;
use crate::error::{Diagnostic, Diagnostics, line_breaks, show};
use crate::fault::{Fault, Kind};
use crate::node::{Mark, Node, Value};
use crate::section::KeyDoc;
use crate::suggest::{nearest, same_key};
use crate::yaml;
use serde::de::DeserializeOwned;

/// Largest file, in bytes.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// Most places named in a hint.
const MOST_PLACES: usize = 3;

#[derive(Debug)]
pub(crate) struct Document {
    origin: String,
    text: String,
    /// `None` when the text says nothing.
    root: Option<Node>,
}

impl Document {
    pub(crate) fn parse(origin: &str, bytes: &[u8]) -> Result<Self, Diagnostics> {
        if bytes.len() > MOST_BYTES {
            return Err(Diagnostic::whole(origin, too_large(), None).into());
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
            Err(error) => {
                let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let at = end_of(&good);
                let shown = String::from_utf8_lossy(bytes);
                let message = "this byte is no UTF-8 text".to_owned();
                return Err(Diagnostic::at(origin, &shown, at, message, None).into());
            }
        };
        if let Some(index) = text.find('\0') {
            let message = "a NUL byte, this is no text file".to_owned();
            return Err(Diagnostic::at(origin, text, end_of(&text[..index]), message, None).into());
        }
        let text = text.to_owned();
        match yaml::parse(&text) {
            Ok(root) => {
                let root = root.filter(|root| !root.is_null());
                Ok(Self { origin: origin.to_owned(), text, root })
            }
            Err(fault) => Err(Diagnostic::at(origin, &text, fault.at, fault.message, None).into()),
        }
    }

    pub(crate) fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    /// An error for a text in which no key stands.
    pub(crate) fn must_say_something(&self) -> Result<(), Diagnostics> {
        match self.root {
            Some(_) => Ok(()),
            None => Err(Diagnostic::whole(&self.origin, "the file is empty", None).into()),
        }
    }

    /// The typed content; a text that says nothing is the default.
    pub(crate) fn read<T: DeserializeOwned + Default>(
        &self,
        keys: fn() -> Vec<KeyDoc>,
    ) -> Result<T, Diagnostics> {
        let Some(root) = &self.root else { return Ok(T::default()) };
        if !matches!(root.value, Value::Map(_)) {
            let message = format!("expected `key: value` lines, found {}", root.kind());
            return Err(self.diagnose(root.at, message, None).into());
        }
        decode(root).map_err(|fault| {
            let (message, hint) = explain(&fault, keys);
            self.diagnose(fault.place.unwrap_or(root.at), message, hint).into()
        })
    }

    pub(crate) fn diagnose(&self, at: Mark, message: String, hint: Option<String>) -> Diagnostic {
        Diagnostic::at(&self.origin, &self.text, at, message, hint)
    }

    /// How much of a path stands in this text, and where its last step does.
    pub(crate) fn locate(&self, path: &str) -> (usize, Mark) {
        match &self.root {
            Some(root) => root.locate(path),
            None => (0, Mark { line: 1, column: 1, width: 1 }),
        }
    }
}

/// Gives every problem the place of its key, in the layer that said it last.
pub(crate) fn place(documents: &[Document], problems: &[Problem]) -> Diagnostics {
    let mut placed: Vec<(usize, Diagnostic)> = problems
        .iter()
        .filter_map(|problem| {
            let best =
                documents.iter().enumerate().map(|(index, document)| (index, document.locate(&problem.path)));
            let (index, (_, at)) = best.max_by_key(|(_, (taken, _))| *taken)?;
            Some((index, documents[index].diagnose(at, problem.message.clone(), problem.hint.clone())))
        })
        .collect();
    placed.sort_by_key(|(index, diagnostic)| (*index, diagnostic.line, diagnostic.column));
    Diagnostics(placed.into_iter().map(|(_, diagnostic)| diagnostic).collect())
}

pub(crate) fn too_large() -> String {
    format!("larger than {} KiB, this is no configuration file", MOST_BYTES / 1024)
}

/// The place behind a text.
fn end_of(text: &str) -> Mark {
    let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let text = line_breaks(text);
    let line = text.rsplit('\n').next().unwrap_or(&text);
    Mark { line: clip(text.matches('\n').count() + 1), column: clip(line.chars().count() + 1), width: 1 }
}

fn explain(fault: &Fault, keys: fn() -> Vec<KeyDoc>) -> (String, Option<String>) {
    let path = fault.path();
    match &fault.kind {
        Kind::UnknownKey { key, known } => {
            let place = if path.is_empty() { String::new() } else { format!(" in `{}`", show(&path)) };
            (format!("unknown key `{}`{place}", show(key)), Some(about_key(key, known, &keys())))
        }
        Kind::DuplicateKey { key, first } => {
            (format!("`{}` is given twice", show(key)), Some(format!("the first is on line {first}")))
        }
        Kind::WrongType { expected, found } => {
            let hint = match (expected.as_str(), found.trim_matches('`').to_ascii_lowercase().as_str()) {
                ("true or false", "yes" | "on" | "y" | "1" | "true") => Some("write `true`".to_owned()),
                ("true or false", "no" | "off" | "n" | "0" | "false") => Some("write `false`".to_owned()),
                ("a list", _) => Some("write `- VALUE` lines".to_owned()),
                _ => None,
            };
            (format!("`{}` must be {expected}, found {found}", show(&path)), hint)
        }
        Kind::Other { message, hint } => (format!("`{}`: {message}", show(&path)), hint.clone()),
    }
}

/// Where an unknown key belongs, or which one was meant.
fn about_key(key: &str, known: &[&str], all: &[KeyDoc]) -> String {
    let mut places: Vec<&str> = Vec::new();
    for doc in all {
        let (place, last) = doc.path.rsplit_once('.').unwrap_or(("", &doc.path));
        if same_key(last, key) && places.len() < MOST_PLACES {
            places.push(place);
        }
    }
    if !places.is_empty() {
        let quoted: Vec<String> = places
            .iter()
            .map(|p| if p.is_empty() { "the top level".to_owned() } else { format!("`{p}`") })
            .collect();
        return format!("`{}` belongs in {}", show(key), quoted.join(" or "));
    }
    match nearest(key, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", known.join(", ")),
    }
}
