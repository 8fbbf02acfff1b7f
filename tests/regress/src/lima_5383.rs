//! lima-vm/lima 5383: one try of a probe that hangs keeps the start from going on.

use anyhow::{Result, ensure};
use flake_testkit::processes;

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-5383")?;
    let mark = ground.host.mark();
    // The first try hangs, the next passes.
    kept.layer(&format!(
        "probes:\n- {{script: 'test -e /again || {{ touch /again; sleep {mark}; }}', timeout: 500ms, interval: \
         100ms}}\n"
    ))?;
    kept.prints(&["echo", "ready"], "ready\n")?;
    processes::until_gone(&mark)?;
    kept.end()?;
    kept.layer(&format!(
        "probes:\n- {{script: sleep {mark}, timeout: 300ms, interval: 100ms, deadline: 1s}}\n"
    ))?;
    let outcome = kept.call(&["true"])?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("not done within 300ms"), "{outcome}");
    processes::until_gone(&mark)?;
    kept.end()
}
