//! Questions, which are asked on a terminal only.

use crate::failure::Failure;
use flake_sys::question;
use std::io::{self, Write};

pub(crate) use flake_sys::question::is_possible;

/// Asks a question; only a clear yes is one.
pub(crate) fn confirm(text: &str) -> Result<bool, Failure> {
    let failed = |error| Failure::system("cannot ask", &error);
    write!(io::stderr(), "{text} [y/N] ").map_err(failed)?;
    Ok(question::is_yes(&question::answer().map_err(failed)?))
}
