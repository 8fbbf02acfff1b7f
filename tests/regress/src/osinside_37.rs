//! OSInside/flake-pilot 37: words with blanks are split on the way to the app.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.app.call(&["printf", "<%s>\\n", "a b", "", "it's", "\"q\""]).run()?;
    ensure!(outcome.out() == "<a b>\n<>\n<it's>\n<\"q\">\n", "{outcome}");
    Ok(())
}
