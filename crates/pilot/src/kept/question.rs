//! The question which instance is meant.

use super::manage;
use crate::ending::Refusal;
use flake_schema::FlakeName;
use flake_sys::{interrupt, question};
use std::io::{self, Write};

pub(super) use flake_sys::question::is_possible;

/// What an answer came to.
pub(crate) enum Answer<T> {
    /// Something.
    Given(T),
    /// A signal came instead.
    Signal(i32),
}

/// Asks which of several instances is meant; without a terminal that is an error.
/// Gives its place among their labels.
pub(crate) fn which(app: &FlakeName, labels: &[&str]) -> Result<Answer<usize>, Refusal> {
    if !is_possible() {
        return Err(manage::several(app, labels));
    }
    let mut text = String::from("Multiple Flake instances detected. Which one to re-attach?\n");
    for (number, label) in (1..).zip(labels) {
        text.push_str(&format!("{number:3}: {label}\n"));
    }
    text.push_str("Number: ");
    let picked = match ask(&text)? {
        Answer::Given(answer) => pick(&answer, labels),
        Answer::Signal(signal) => return Ok(Answer::Signal(signal)),
    };
    picked.map(Answer::Given).ok_or_else(|| Refusal::Other("no instance was chosen".to_owned()))
}

/// The place of the label with this number, or of this name.
fn pick(answer: &str, labels: &[&str]) -> Option<usize> {
    let answer = answer.trim();
    labels.iter().position(|label| *label == answer.trim_start_matches('@')).or_else(|| {
        let number: usize = answer.parse().ok()?;
        number.checked_sub(1).filter(|index| *index < labels.len())
    })
}

/// Asks; only a clear yes is one.
pub(super) fn confirm(text: &str) -> Result<Answer<bool>, Refusal> {
    Ok(match ask(&format!("{text} [y/N] "))? {
        Answer::Given(answer) => Answer::Given(question::is_yes(&answer)),
        Answer::Signal(signal) => Answer::Signal(signal),
    })
}

fn ask(text: &str) -> Result<Answer<String>, Refusal> {
    interrupt::watch();
    let answer = io::stderr().write_all(text.as_bytes()).and_then(|()| question::answer());
    match (interrupt::unwatch(), answer) {
        (Some(signal), _) => Ok(Answer::Signal(signal)),
        (None, Ok(line)) => Ok(Answer::Given(line)),
        (None, Err(error)) => {
            Err(Refusal::Other(format!("cannot ask: {}", flake_sys::reason::reason(&error))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_number_or_a_name() {
        let labels = ["dev", "other", "3"];
        for (answer, expected) in [
            ("1\n", Some(0)),
            ("other", Some(1)),
            ("@dev", Some(0)),
            ("3", Some(2)),
            ("0", None),
            ("4", None),
            ("", None),
        ] {
            assert_eq!(pick(answer, &labels), expected, "{answer}");
        }
    }
}
