//! The question which instance is meant.

use super::manage;
use crate::ending::Refusal;
use flake_core::instance::Instance;
use flake_schema::FlakeName;
use flake_sys::interrupt;
use std::io::{self, IsTerminal, Write};

/// The longest answer that is read, in bytes.
const LONGEST: usize = 256;

/// What an answer came to.
pub(super) enum Answer<T> {
    /// Something.
    Given(T),
    /// A signal came instead.
    Signal(i32),
}

/// Whether there is somebody to ask.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks which of several instances is meant; without a terminal that is an error.
pub(super) fn which(app: &FlakeName, instances: Vec<Instance>) -> Result<Answer<Instance>, Refusal> {
    let labels: Vec<&str> = instances.iter().map(Instance::label).collect();
    if !is_possible() {
        return Err(manage::several(app, &instances));
    }
    let mut text = String::from("Multiple Flake instances detected. Which one to re-attach?\n");
    for (number, label) in (1..).zip(&labels) {
        text.push_str(&format!("{number:3}: {label}\n"));
    }
    text.push_str("Number: ");
    let picked = match ask(&text)? {
        Answer::Given(answer) => pick(&answer, &labels),
        Answer::Signal(signal) => return Ok(Answer::Signal(signal)),
    };
    let picked = picked.ok_or_else(|| Refusal::Other("no instance was chosen".to_owned()))?;
    Ok(Answer::Given(instances[picked].clone()))
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
pub(super) fn confirm(question: &str) -> Result<Answer<bool>, Refusal> {
    Ok(match ask(&format!("{question} [y/N] "))? {
        Answer::Given(answer) => Answer::Given(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")),
        Answer::Signal(signal) => Answer::Signal(signal),
    })
}

fn ask(text: &str) -> Result<Answer<String>, Refusal> {
    interrupt::watch();
    let answer = io::stderr().write_all(text.as_bytes()).and_then(|()| line());
    match (interrupt::unwatch(), answer) {
        (Some(signal), _) => Ok(Answer::Signal(signal)),
        (None, Ok(line)) => Ok(Answer::Given(line)),
        (None, Err(error)) => {
            Err(Refusal::Other(format!("cannot ask: {}", flake_sys::reason::reason(&error))))
        }
    }
}

/// A line of standard input, byte by byte: what follows it is the application's.
fn line() -> io::Result<String> {
    let input = io::stdin();
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < LONGEST && interrupt::wait_readable(&input)? {
        match rustix::io::read(&input, &mut byte) {
            Ok(0) => break,
            Ok(_) if byte == *b"\n" => break,
            Ok(_) => line.extend(byte),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
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
