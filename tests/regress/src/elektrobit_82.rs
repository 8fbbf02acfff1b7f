//! Elektrobit/flake-pilot 82: the end of the output is lost when the environment goes down.

use anyhow::{Result, ensure};
use flake_testkit::Call;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    for _ in 0..5 {
        let outcome = Call::new(ground.app.script(r#""$APP" sh -c 'seq 1 200000' | tail -1"#)).run()?;
        ensure!(outcome.out() == "200000\n", "{outcome}");
    }
    Ok(())
}
