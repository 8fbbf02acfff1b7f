//! The words of a call of a flake whose instances are kept: which instance, and what is to be done.
//!
//! `@NAME` in front, or at the end when there is an instance of that name. `@@NAME` is the application's own word where
//! `@NAME` would not be. `flake` as the first word manages the instances.

use crate::words::{LauncherOption, Words};
use flake_schema::{InstanceName, WordError};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The word that manages instances.
const FLAKE: &[u8] = b"flake";

/// A call, divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCall {
    /// The launcher's options.
    pub options: Vec<LauncherOption>,
    /// The instance that was named.
    pub instance: Option<InstanceName>,
    /// What is to be done.
    pub verb: FlakeVerb,
    /// The application's words.
    pub args: Vec<OsString>,
}

/// What a call of a kept flake does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlakeVerb {
    /// Runs the application.
    Run,
    /// Runs it in an instance that is made for that: there is none of its name yet.
    New,
    /// Runs it in an instance that is there.
    Resume,
    /// Lists the instances.
    List,
    /// Removes one.
    Remove,
    /// Makes one anew, from the image and flake as they are now.
    Update,
    /// Says what there is to say here.
    Help,
}

/// Words after `flake` that mean nothing.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RequestError {
    /// No such word.
    #[error("flake {0}: no such word; see: {1} flake --help")]
    Unknown(String, String),
    /// It needs a name.
    #[error("flake {0} needs a name, as in: {1} flake {0}=NAME")]
    NoName(&'static str, String),
    /// It takes nothing more.
    #[error("flake {0} takes no further words")]
    TooMuch(&'static str),
    /// Two instances are named.
    #[error("two instances are named, {0} and {1}")]
    Two(InstanceName, InstanceName),
    /// Not a name.
    #[error(transparent)]
    Name(#[from] WordError),
}

impl KeptCall {
    /// Divides the words after the command `app`. `exists` says whether there is an instance of a name.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn divide(
        app: &str,
        words: impl IntoIterator<Item = OsString>,
        exists: impl Fn(&InstanceName) -> bool,
    ) -> Result<Self, RequestError> {
        let (options, instance, mut args) = leading(words.into_iter().collect());
        if args.first().is_some_and(|word| word.as_bytes() == FLAKE) {
            args.remove(0);
            return Self { options, instance, verb: FlakeVerb::Run, args }.managed(app);
        }
        let mut call = Self { options, instance, verb: FlakeVerb::Run, args };
        if call.instance.is_none()
            && let Some(last) = call.args.last()
        {
            match own_name(last) {
                Some(name) if exists(&name) => {
                    call.instance = Some(name);
                    call.args.pop();
                }
                _ => {
                    if let Some(single) =
                        doubled(last).filter(|word| own_name(word).is_some_and(|name| exists(&name)))
                    {
                        call.args.pop();
                        call.args.push(single);
                    }
                }
            }
        }
        Ok(call)
    }

    /// The words after `flake`.
    fn managed(mut self, app: &str) -> Result<Self, RequestError> {
        let words = std::mem::take(&mut self.args);
        self.verb = FlakeVerb::Help;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_str().unwrap_or_default().to_owned();
            let (verb, name) = match text.split_once('=') {
                Some((verb, name)) => (verb, Some(name)),
                None => (text.as_str(), None),
            };
            let verb = match (verb, name) {
                ("args", None) => {
                    if self.verb == FlakeVerb::Help {
                        self.verb = FlakeVerb::Run;
                    }
                    self.args = words.collect();
                    break;
                }
                ("new", _) => FlakeVerb::New,
                ("resume", _) => FlakeVerb::Resume,
                ("remove", _) => FlakeVerb::Remove,
                ("update", _) => FlakeVerb::Update,
                ("list", None) => FlakeVerb::List,
                ("--help" | "-h" | "help", None) => FlakeVerb::Help,
                _ => return Err(RequestError::Unknown(word.to_string_lossy().into_owned(), app.to_owned())),
            };
            if self.verb != FlakeVerb::Help {
                return Err(RequestError::TooMuch(self.verb.word()));
            }
            self.verb = verb;
            if let Some(name) = name {
                let name: InstanceName = name.parse()?;
                match self.instance.take().filter(|first| *first != name) {
                    Some(first) => return Err(RequestError::Two(first, name)),
                    None => self.instance = Some(name),
                }
            }
            if matches!(verb, FlakeVerb::Resume | FlakeVerb::Remove) && self.instance.is_none() {
                return Err(RequestError::NoName(verb.word(), app.to_owned()));
            }
            if verb == FlakeVerb::Help {
                break;
            }
        }
        let takes_args = matches!(self.verb, FlakeVerb::Run | FlakeVerb::New | FlakeVerb::Resume);
        if !takes_args && !self.args.is_empty() {
            return Err(RequestError::TooMuch(self.verb.word()));
        }
        Ok(self)
    }

    /// The call as one of an immutable flake has it.
    #[must_use]
    pub fn into_words(self) -> Words {
        Words { options: self.options, args: self.args }
    }
}

impl FlakeVerb {
    fn word(self) -> &'static str {
        match self {
            Self::Run => "args",
            Self::New => "new",
            Self::Resume => "resume",
            Self::List => "list",
            Self::Remove => "remove",
            Self::Update => "update",
            Self::Help => "--help",
        }
    }
}

/// Takes the launcher's leading words: its options, and one name.
fn leading(words: Vec<OsString>) -> (Vec<LauncherOption>, Option<InstanceName>, Vec<OsString>) {
    let mut instance = None;
    let mut options = Vec::new();
    let mut words = words;
    loop {
        let divided = Words::divide(std::mem::take(&mut words));
        options.extend(divided.options);
        words = divided.args;
        match words.first().map(|word| own_name(word)) {
            Some(Some(name)) if instance.is_none() => {
                instance = Some(name);
                words.remove(0);
            }
            _ => break,
        }
    }
    if instance.is_none()
        && let Some(single) =
            words.first().and_then(|word| doubled(word)).filter(|word| own_name(word).is_some())
        && let Some(first) = words.first_mut()
    {
        *first = single;
    }
    (options, instance, words)
}

/// The name in `@NAME`.
fn own_name(word: &OsStr) -> Option<InstanceName> {
    let name = word.to_str()?.strip_prefix('@')?;
    if name.starts_with('@') { None } else { name.parse().ok() }
}

/// `@@x` without its first sign.
fn doubled(word: &OsStr) -> Option<OsString> {
    word.as_bytes()
        .strip_prefix(b"@")
        .filter(|rest| rest.starts_with(b"@"))
        .map(|rest| OsString::from_vec(rest.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divide(words: &[&str]) -> Result<(String, FlakeVerb, Vec<String>), RequestError> {
        let exists = |name: &InstanceName| name.as_str() == "mine";
        let call = KeptCall::divide("dev", words.iter().map(OsString::from), exists)?;
        let args = call.args.into_iter().map(|word| word.into_string().unwrap()).collect();
        Ok((call.instance.map(|name| name.to_string()).unwrap_or_default(), call.verb, args))
    }

    fn run(words: &[&str]) -> (String, Vec<String>) {
        let (name, verb, args) = divide(words).unwrap();
        assert_eq!(verb, FlakeVerb::Run);
        (name, args)
    }

    fn args(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_name_is_in_front_or_known_at_the_end() {
        assert_eq!(run(&["@other", "-c", "make"]), ("other".into(), args(&["-c", "make"])));
        assert_eq!(run(&["%progress", "@other", "%remove", "x"]), ("other".into(), args(&["x"])));
        assert_eq!(run(&["ec2", "help", "@mine"]), ("mine".into(), args(&["ec2", "help"])));
        assert_eq!(run(&["-d", "@file"]), (String::new(), args(&["-d", "@file"])));
        assert_eq!(run(&["@other", "@mine"]), ("other".into(), args(&["@mine"])));
        assert_eq!(run(&["@no/name"]), (String::new(), args(&["@no/name"])));
        assert_eq!(run(&["@mine"]), ("mine".into(), args(&[])));
    }

    #[test]
    fn a_doubled_sign_is_the_applications() {
        assert_eq!(run(&["@@other", "x"]), (String::new(), args(&["@other", "x"])));
        assert_eq!(run(&["x", "@@mine"]), (String::new(), args(&["x", "@mine"])));
        assert_eq!(run(&["x", "@@other"]), (String::new(), args(&["x", "@@other"])));
        assert_eq!(run(&["@other", "@@x"]), ("other".into(), args(&["@@x"])));
    }

    #[test]
    fn flake_manages_instances() {
        let ok = |words: &[&str]| divide(words).unwrap();
        assert_eq!(ok(&["flake"]), (String::new(), FlakeVerb::Help, vec![]));
        assert_eq!(ok(&["flake", "--help"]).1, FlakeVerb::Help);
        assert_eq!(ok(&["flake", "list"]).1, FlakeVerb::List);
        assert_eq!(ok(&["flake", "new"]), (String::new(), FlakeVerb::New, vec![]));
        assert_eq!(
            ok(&["flake", "new=P", "args", "-c", "x"]),
            ("P".into(), FlakeVerb::New, args(&["-c", "x"]))
        );
        assert_eq!(ok(&["flake", "resume=P"]), ("P".into(), FlakeVerb::Resume, vec![]));
        assert_eq!(ok(&["@P", "flake", "update"]), ("P".into(), FlakeVerb::Update, vec![]));
        assert_eq!(
            ok(&["flake", "args", "flake", "update"]),
            (String::new(), FlakeVerb::Run, args(&["flake", "update"]))
        );
        assert_eq!(ok(&["x", "flake", "list"]).2, args(&["x", "flake", "list"]));
        let error = |words: &[&str]| divide(words).unwrap_err().to_string();
        assert_eq!(error(&["flake", "nwe"]), "flake nwe: no such word; see: dev flake --help");
        assert_eq!(error(&["flake", "resume"]), "flake resume needs a name, as in: dev flake resume=NAME");
        assert_eq!(error(&["flake", "list", "new=X"]), "flake list takes no further words");
        assert_eq!(error(&["flake", "remove=X", "args", "y"]), "flake remove takes no further words");
        assert_eq!(error(&["@a", "flake", "new=b"]), "two instances are named, a and b");
        assert!(error(&["flake", "new=a/b"]).contains("a/b"));
    }
}
