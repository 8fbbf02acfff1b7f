//! lima-vm/lima 5225: the fourth of several scripts fails, and all goes on as if it had not.

use anyhow::{Result, ensure};

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-5225")?;
    kept.layer(
        "provision:\n- script: 'true'\n- script: 'true'\n- script: 'true'\n- script: cp /etc/does-not-exist /tmp\n\
         - script: 'true'\n",
    )?;
    let outcome = kept.call(&["echo", "ready"])?;
    let said = outcome.err();
    ensure!(outcome.code == Some(125) && outcome.stdout.is_empty(), "{outcome}");
    ensure!(said.contains("provision[3] (system) failed") && said.contains("does-not-exist"), "{outcome}");
    kept.end()
}
