//! lima-vm/lima 192: scripts of the user never run, without a trace.

use anyhow::Result;

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-192")?;
    kept.layer(
        "provision:\n- {mode: system, script: 'touch /tmp/system'}\n- {mode: user, script: 'touch /tmp/user'}\n",
    )?;
    kept.prints(&["ls", "/tmp"], "system\nuser\n")?;
    kept.end()
}
