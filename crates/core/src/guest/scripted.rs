//! A strict guest in memory for tests: it answers exactly what it was told to be asked, in that order.

use super::{Guest, GuestError, Heard, Script, ScriptEnd};
use crate::probe::Check;
use flake_schema::ProvisionMode;
use std::collections::{BTreeMap, VecDeque};

/// What a script that is run does.
pub(crate) type Act = (&'static str, Vec<&'static [u8]>, Result<ScriptEnd, GuestError>);

/// The guest.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    /// The scripts that are still to come, by their texts.
    pub(crate) expected: VecDeque<Act>,
    /// Files inside.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// What was run, in order: text and mode.
    pub(crate) ran: Vec<(String, ProvisionMode)>,
    /// The variables of the last script.
    pub(crate) env: Vec<(String, String)>,
    /// Nothing can be written.
    pub(crate) is_full: bool,
}

impl Scripted {
    /// A guest in which these scripts succeed.
    pub(crate) fn with(texts: &[&'static str]) -> Self {
        let mut guest = Self::default();
        guest.expect(texts);
        guest
    }

    /// Further scripts that succeed.
    pub(crate) fn expect(&mut self, texts: &[&'static str]) {
        self.expected.extend(texts.iter().map(|text| (*text, Vec::new(), Ok(ScriptEnd::Exited(0)))));
    }

    /// A further script.
    pub(crate) fn then(&mut self, text: &'static str, said: &[&'static [u8]], end: ScriptEnd) {
        self.expected.push_back((text, said.to_vec(), Ok(end)));
    }
}

impl Guest for Scripted {
    fn run(
        &mut self,
        script: &Script<'_>,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<ScriptEnd, GuestError> {
        let (text, said, end) =
            self.expected.pop_front().unwrap_or_else(|| panic!("{} was not expected", script.text));
        assert_eq!(script.text, text);
        self.ran.push((text.to_owned(), script.mode));
        self.env = script.env.to_vec();
        heard(Heard::Running);
        for bytes in said {
            heard(Heard::Output(bytes));
        }
        end
    }

    fn read(&mut self, path: &str, most: usize) -> Result<Option<Vec<u8>>, GuestError> {
        Ok(self.files.get(path).filter(|content| content.len() <= most).cloned())
    }

    fn write(&mut self, path: &str, content: &[u8]) -> Result<(), GuestError> {
        if self.is_full {
            return Err(GuestError::Refused("no space left on device".into()));
        }
        self.files.insert(path.to_owned(), content.to_vec());
        Ok(())
    }

    fn watch(&mut self, _checks: &[Check]) -> Result<(), GuestError> {
        panic!("nothing is watched here");
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.expected.is_empty(), "did not run: {:?}", self.expected);
        }
    }
}
