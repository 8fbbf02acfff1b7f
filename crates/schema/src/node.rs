//! A YAML document as a tree in which every key and value knows where it stands.

use crate::suggest::same_key;

/// A place in a file. Lines and columns count from 1, columns and width in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) width: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Mark,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// `plain`: written without quotes, so that it may also be a number, a boolean or null.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: Mark,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain: true } => {
                matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            _ => false,
        }
    }

    /// What the value is, for messages.
    pub(crate) fn kind(&self) -> String {
        match &self.value {
            _ if self.is_null() => "nothing".to_owned(),
            Value::Scalar { text, .. } => format!("`{}`", crate::error::show(text)),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a section".to_owned(),
        }
    }

    /// Number of values, this one included, and bytes of text in them.
    pub(crate) fn weight(&self) -> (usize, usize) {
        let add = |(values, bytes): (usize, usize), (v, b): (usize, usize)| (values + v, bytes + b);
        match &self.value {
            Value::Scalar { text, .. } => (1, text.len()),
            Value::List(items) => items.iter().map(Self::weight).fold((1, 0), add),
            Value::Map(entries) => {
                entries.iter().map(|e| add(e.value.weight(), (0, e.key.len()))).fold((1, 0), add)
            }
        }
    }

    /// Paths of all keys that say something and have no keys below them, dashes as underscores.
    pub(crate) fn key_paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &str, paths: &mut Vec<String>) {
        match &self.value {
            _ if self.is_null() => {}
            Value::Map(entries) => entries.iter().for_each(|entry| {
                let key = entry.key.replace('-', "_");
                let path = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
                entry.value.collect_paths(&path, paths);
            }),
            _ => paths.push(prefix.to_owned()),
        }
    }

    /// Follows a path like `container.runtime.share[2]` as far as it exists and says something; gives the
    /// number of steps taken and the place of the last one.
    pub(crate) fn locate(&self, path: &str) -> (usize, Mark) {
        let (mut node, mut at, mut taken) = (self, self.at, 0);
        for step in steps(path) {
            let next = match (&node.value, step) {
                (Value::Map(entries), Step::Key(key)) => {
                    entries.iter().find(|e| same_key(&e.key, key)).map(|e| (&e.value, e.at))
                }
                (Value::List(items), Step::Item(index)) => items.get(index).map(|item| (item, item.at)),
                _ => None,
            };
            match next {
                Some((next, place)) if !next.is_null() => (node, at, taken) = (next, place, taken + 1),
                _ => break,
            }
        }
        (taken, at)
    }
}

enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

fn steps(path: &str) -> impl Iterator<Item = Step<'_>> {
    path.split(['.', '[']).filter(|part| !part.is_empty()).map(|part| match part.strip_suffix(']') {
        Some(index) => Step::Item(index.parse().unwrap_or(usize::MAX)),
        None => Step::Key(part),
    })
}
