//! Whoever can be asked something, and what they answer. The question itself is for programs to show.

use crate::interrupt;
use std::io::{self, IsTerminal};

/// The longest answer that is read, in bytes.
const LONGEST: usize = 256;

/// Whether there is somebody to ask: standard input and error are terminals.
#[must_use]
pub fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A line of standard input, byte by byte, so that what follows it stays for others.
///
/// # Errors
/// What the kernel says; [`io::ErrorKind::Interrupted`] when a stop is asked for meanwhile ([`interrupt::pending`]).
pub fn answer() -> io::Result<String> {
    let input = io::stdin();
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < LONGEST {
        if !interrupt::wait_readable(&input)? {
            return Err(io::ErrorKind::Interrupted.into());
        }
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

/// Only a clear yes is one.
#[must_use]
pub fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, expected) in [("y", true), (" YES\n", true), ("", false), ("yep", false), ("no", false)]
        {
            assert_eq!(is_yes(answer), expected, "{answer:?}");
        }
    }
}
