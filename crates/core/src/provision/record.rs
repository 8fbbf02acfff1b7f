//! Which scripts with `run: change` ran last in an instance: a file inside it, which lives as long as its data.
//!
//! ```text
//! provisioned 1
//! 8e2c7f0b3d5a49118e2c7f0b3d5a4911      a line for each script
//! ```
//!
//! Whoever is root inside can write what he likes there. What is not exactly this is no record, and the worst that a
//! forged one does is that a script of that instance does not run.

use flake_schema::{ProvisionMode, ProvisionStep};
use std::collections::BTreeSet;

/// Where it is inside.
pub(super) const PATH: &str = "/var/lib/sci/provisioned";
/// The most bytes that one may have.
pub(super) const MOST: usize = 64 << 10;
/// The first line, with the format's version.
const FIRST: &str = "provisioned 1";
/// Digits of a mark.
const DIGITS: usize = 32;

/// A script as it ran: its text, its variables and as whom. Its place among the scripts is not in it, so that moving
/// one is no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark(u128);

impl Mark {
    pub(super) fn of(step: &ProvisionStep, env: &[(String, String)]) -> Self {
        let mode = match step.mode {
            ProvisionMode::System => "system",
            ProvisionMode::User => "user",
        };
        let words = env.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let mut hash = Fnv::default();
        for word in [mode, &step.script].into_iter().chain(words) {
            hash.add(word.as_bytes());
            // No UTF-8 text has it.
            hash.add(&[0xff]);
        }
        Self(hash.0)
    }
}

/// FNV-1a with 128 bits (draft-eastlake-fnv): it only has to tell the versions of one person's scripts apart.
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
}

/// The scripts that ran last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record(BTreeSet<Mark>);

impl Record {
    pub(super) fn parse(content: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(content).ok()?.lines();
        if lines.next()? != FIRST {
            return None;
        }
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let mark = |line: &str| {
            let is_mark = line.len() == DIGITS && line.bytes().all(is_digit);
            u128::from_str_radix(line, 16).ok().filter(|_| is_mark).map(Mark)
        };
        lines.map(mark).collect::<Option<_>>().map(Self)
    }

    pub(super) fn to_text(&self) -> String {
        let marks = self.0.iter().map(|mark| format!("{:032x}\n", mark.0));
        std::iter::once(format!("{FIRST}\n")).chain(marks).collect()
    }

    pub(super) fn has(&self, mark: Mark) -> bool {
        self.0.contains(&mark)
    }

    pub(super) fn add(&mut self, mark: Mark) {
        self.0.insert(mark);
    }

    /// What of it is among these.
    pub(super) fn only(&self, marks: &[Mark]) -> Self {
        Self(marks.iter().filter(|mark| self.has(**mark)).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let mut hash = Fnv::default();
        hash.add(b"foobar");
        assert_eq!(hash.0, 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record([Mark(0), Mark(7), Mark(u128::MAX)].into());
        assert_eq!(Record::parse(record.to_text().as_bytes()), Some(record));
        assert_eq!(Record::parse(b"provisioned 1\n"), Some(Record::default()));
    }

    #[test]
    fn anything_else_is_none() {
        let digits = "0".repeat(DIGITS);
        for text in [
            String::new(),
            "provisioned 2\n".into(),
            format!("provisioned 1\n{digits}0\n"),
            format!("provisioned 1\n+{}\n", &digits[1..]),
            format!("provisioned 1\n{}F\n", &digits[1..]),
            format!("provisioned 1\n{digits}\n\n"),
            format!("{digits}\n"),
        ] {
            assert_eq!(Record::parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(Record::parse(b"provisioned 1\n\xff\n"), None);
    }
}
