//! The only file that knows the YAML library: text to tree, types to text.

use crate::node::{Entry, Mark, Node, Value};
use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Span, Tag, options};
use std::collections::HashMap;

/// Deepest nesting of a file.
const DEEPEST: usize = 32;
/// Most values of a file, those that aliases repeat included.
const MOST_VALUES: usize = 50_000;
/// Most bytes of text that aliases may repeat.
const MOST_REPEATED: usize = 1 << 20;

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: Mark,
    pub(crate) message: String,
}

fn fault<T>(at: Mark, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { at, message: message.into() })
}

/// The single document of a text; `None` when there is nothing in it.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Fault> {
    let limits = options! { block_nesting_limit: DEEPEST + 8, flow_nesting_limit: DEEPEST + 8 };
    let mut parser = Parser::new_from_str_with_options(text, limits);
    let mut builder = Builder::default();
    while let Some(event) = parser.next_event() {
        match event {
            Ok((event, span)) => builder.take(event, &span)?,
            Err(error) => {
                let marker = error.marker();
                return fault(mark(marker.line(), marker.col(), 1), plain_words(error.kind(), &error.info()));
            }
        }
    }
    Ok(builder.root)
}

/// A value as YAML text; keys in the order of declaration, ends with a line feed.
pub(crate) fn write(value: &impl serde::Serialize) -> Result<String, String> {
    let options = serde_saphyr::ser_options! { compact_list_indent: false };
    serde_saphyr::to_string_with_options(value, options).map_err(|error| error.to_string())
}

fn mark(line: usize, column: usize, width: usize) -> Mark {
    let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Mark { line: clip(line.max(1)), column: clip(column).saturating_add(1), width: clip(width.max(1)) }
}

fn mark_of(span: &Span) -> Mark {
    let width = if span.end.line() == span.start.line() { span.end.col() - span.start.col() } else { 1 };
    mark(span.start.line(), span.start.col(), width)
}

/// Our words for the mistakes that people make, else the library's, first letter small, one line.
fn plain_words(kind: &ErrorKind, message: &str) -> String {
    let ours = match kind {
        ErrorKind::RecursionLimitExceeded => return too_deep(),
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation => {
            "a tab cannot indent, use blanks"
        }
        ErrorKind::UnknownAnchor => "this alias repeats nothing, there is no such anchor before it",
        ErrorKind::UnclosedQuotedScalar => "this quote is never closed",
        _ => message.lines().next().unwrap_or_default().trim_end_matches('.'),
    };
    let mut chars = ours.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

fn too_deep() -> String {
    format!("nested more than {DEEPEST} levels deep")
}

/// A list or map that is not closed yet.
struct Open {
    node: Node,
    anchor: usize,
    /// Key of the entry whose value comes next.
    key: Option<(String, Mark)>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    root: Option<Node>,
    documents: usize,
    values: usize,
    repeated: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Fault> {
        let at = mark_of(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return fault(at, "a second document begins here, one is allowed");
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                if text.contains('\0') {
                    return fault(at, "a NUL character is not possible here");
                }
                let plain = style == ScalarStyle::Plain && !is_text(tag.as_deref(), at)?;
                let node = Node { at, value: Value::Scalar { text: text.into_owned(), plain } };
                self.add(node, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.begin(Value::List(Vec::new()), at, anchor, tag.as_deref())
            }
            Event::MappingStart(_, anchor, tag) => {
                self.begin(Value::Map(Vec::new()), at, anchor, tag.as_deref())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.add(open.node, open.anchor),
                None => fault(at, "this closes nothing"),
            },
            Event::Alias(id) => self.repeat(id, at),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, value: Value, at: Mark, anchor: usize, tag: Option<&Tag>) -> Result<(), Fault> {
        is_text(tag, at)?;
        if self.open.len() >= DEEPEST {
            return fault(at, too_deep());
        }
        if self.expects_key() {
            return fault(at, "a key must be a word, not a list or section");
        }
        self.open.push(Open { node: Node { at, value }, anchor, key: None });
        Ok(())
    }

    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|open| matches!(open.node.value, Value::Map(_)) && open.key.is_none())
    }

    fn repeat(&mut self, id: usize, at: Mark) -> Result<(), Fault> {
        if self.expects_key() {
            return fault(at, "an alias cannot be a key");
        }
        let Some(node) = self.anchors.get(&id) else {
            return fault(at, "this alias repeats the section it stands in");
        };
        let (values, bytes) = node.weight();
        self.values += values;
        self.repeated += bytes;
        if self.values > MOST_VALUES || self.repeated > MOST_REPEATED {
            return fault(at, "aliases make the file too large");
        }
        let node = Node { at, value: node.value.clone() };
        self.add(node, 0)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return fault(node.at, format!("more than {MOST_VALUES} values"));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.node.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => match open.key.take() {
                Some((key, at)) => entries.push(Entry { key, at, value: node }),
                None => match node.value {
                    Value::Scalar { text, .. } => open.key = Some((text, node.at)),
                    _ => return fault(node.at, "a key must be a word, not a list or section"),
                },
            },
            Value::Scalar { .. } => {}
        }
        Ok(())
    }
}

/// True when a tag makes a value text; tags of the YAML core are let through, others are refused.
fn is_text(tag: Option<&Tag>, at: Mark) -> Result<bool, Fault> {
    match tag {
        None => Ok(false),
        Some(tag) => match (tag.core_suffix(), tag.parts()) {
            (Some("str"), _) | (_, ("!", "") | ("", "!")) => Ok(true),
            (Some(_), _) => Ok(false),
            (None, _) => {
                fault(at, format!("tag `{}` is not known here", crate::error::show(&tag.original())))
            }
        },
    }
}
