//! Which instance a call means.

use super::{FlakeVerb, Instance, Notes};
use flake_schema::InstanceName;

/// What a choice came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// This one.
    One(Instance),
    /// One of these, and the call does not say which.
    Several(Vec<Instance>),
}

/// A call means no instance.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChoiceError {
    /// There is none of this name.
    #[error("there is no instance {name}{}; see: {app} flake list", nearest(others))]
    Unknown {
        /// The name.
        name: String,
        /// The command.
        app: String,
        /// Those there are.
        others: Vec<Instance>,
    },
    /// There is one of this name already.
    #[error("there is an instance {0} already; try: {1} flake resume={0}")]
    Exists(String, String),
}

fn nearest(others: &[Instance]) -> String {
    let labels: Vec<_> = others.iter().map(Instance::label).collect();
    if labels.is_empty() { String::new() } else { format!(", only {}", labels.join(", ")) }
}

/// Chooses among a user's instances of a group for a call of the flake `app`.
///
/// # Errors
/// [`ChoiceError`].
pub fn choose(
    app: &str,
    notes: &Notes,
    name: Option<InstanceName>,
    verb: FlakeVerb,
) -> Result<Choice, ChoiceError> {
    let there = notes.instances();
    let named = |name| notes.instance(Some(name));
    match (verb, name) {
        (FlakeVerb::New, Some(name)) => {
            let instance = named(name);
            if there.contains(&instance) {
                return Err(ChoiceError::Exists(instance.label().to_owned(), app.to_owned()));
            }
            Ok(Choice::One(instance))
        }
        (FlakeVerb::New, None) => Ok(Choice::One(fresh(&there, notes))),
        (FlakeVerb::Resume | FlakeVerb::Remove | FlakeVerb::Update, Some(name)) => {
            let instance = named(name);
            if !there.contains(&instance) {
                let name = instance.label().to_owned();
                return Err(ChoiceError::Unknown { name, app: app.to_owned(), others: there });
            }
            Ok(Choice::One(instance))
        }
        (_, Some(name)) => Ok(Choice::One(named(name))),
        (_, None) if there.len() > 1 => Ok(Choice::Several(there)),
        (_, None) => Ok(Choice::One(there.into_iter().next().unwrap_or_else(|| notes.instance(None)))),
    }
}

/// An instance of a name that none has yet: the one without a name, else the group's with a number.
fn fresh(there: &[Instance], notes: &Notes) -> Instance {
    let unnamed = notes.instance(None);
    let letters: String = notes
        .group()
        .chars()
        .map(|sign| if sign.is_ascii_alphanumeric() || sign == '_' || sign == '-' { sign } else { '_' })
        .take(50)
        .collect();
    let numbered = (2_u32..)
        .filter_map(|number| Some(notes.instance(Some(format!("{letters}-{number}").parse().ok()?))));
    std::iter::once(unnamed.clone())
        .chain(numbered)
        .find(|instance| !there.contains(instance))
        .unwrap_or(unnamed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Made;

    fn notes(labels: &[&str]) -> (tempfile::TempDir, Notes) {
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::new(folder.path(), 7, "dev");
        for label in labels {
            let made = Made { id: "0".into(), made_of: "0".into(), socket: "/x".into(), user: None };
            notes.write(&Instance::new(7, "dev", Some(label.parse().unwrap())), &made).unwrap();
        }
        (folder, notes)
    }

    fn one(labels: &[&str], name: Option<&str>, verb: FlakeVerb) -> String {
        let (_folder, notes) = notes(labels);
        match choose("dev", &notes, name.map(|name| name.parse().unwrap()), verb) {
            Ok(Choice::One(instance)) => instance.label().to_owned(),
            Ok(Choice::Several(all)) => format!("{} of them", all.len()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_call_without_a_name_means_the_only_one() {
        assert_eq!(one(&[], None, FlakeVerb::Run), "dev");
        assert_eq!(one(&["dev"], None, FlakeVerb::Run), "dev");
        assert_eq!(one(&["other"], None, FlakeVerb::Run), "other");
        assert_eq!(one(&["dev", "other"], None, FlakeVerb::Run), "2 of them");
        assert_eq!(one(&["dev", "other"], Some("dev"), FlakeVerb::Run), "dev");
        assert_eq!(one(&["dev"], Some("third"), FlakeVerb::Run), "third");
    }

    #[test]
    fn new_ones_are_new_and_resumed_ones_are_there() {
        assert_eq!(one(&["dev"], Some("other"), FlakeVerb::New), "other");
        assert_eq!(
            one(&["other"], Some("other"), FlakeVerb::New),
            "there is an instance other already; try: dev flake resume=other"
        );
        assert_eq!(one(&["dev", "dev-2"], None, FlakeVerb::New), "dev-3");
        assert_eq!(one(&["other"], None, FlakeVerb::New), "dev");
        assert_eq!(one(&["dev"], Some("dev"), FlakeVerb::Resume), "dev");
        assert_eq!(
            one(&["dev"], Some("x"), FlakeVerb::Resume),
            "there is no instance x, only dev; see: dev flake list"
        );
    }
}
