//! Waiting for something that has no event of its own.

use std::time::{Duration, Instant};

use crate::{Error, Result};

/// How long anything in a test may take. Long, since it only decides how long a failure takes.
pub const DEADLINE: Duration = Duration::from_secs(30);

const STEP: Duration = Duration::from_millis(10);

/// Calls `probe` until it answers or [`DEADLINE`] has passed.
///
/// # Errors
///
/// [`Error::Late`] with what `seen` says then.
pub fn until<T>(
    what: &str,
    mut probe: impl FnMut() -> Option<T>,
    seen: impl FnOnce() -> String,
) -> Result<T> {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = probe() {
            return Ok(found);
        }
        if Instant::now() > end {
            return Err(Error::Late { what: what.to_owned(), seen: seen() });
        }
        std::thread::sleep(STEP);
    }
}
