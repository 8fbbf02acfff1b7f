//! Questions, which are asked on a terminal only.

use crate::failure::Failure;
use flake_sys::interrupt;
use std::io::{self, IsTerminal, Write};

/// Longest answer that is read, in bytes.
const LONGEST: usize = 256;

/// Whether there is somebody to ask.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question; only a clear yes is one.
pub(crate) fn confirm(question: &str) -> Result<bool, Failure> {
    let failed = |error| Failure::system("cannot ask", &error);
    write!(io::stderr(), "{question} [y/N] ").map_err(failed)?;
    let answer = line().map_err(failed)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// A line of standard input, byte by byte, so that what follows it stays for others.
fn line() -> io::Result<String> {
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
