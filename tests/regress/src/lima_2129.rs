//! lima-vm/lima 2129: every start is the first one for the scripts.

use anyhow::Result;

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-2129")?;
    kept.layer("provision:\n- script: echo once >>/log\n- {run: start, script: 'echo start >>/log'}\n")?;
    kept.prints(&["cat", "/log"], "once\nstart\n")?;
    kept.podman(&["stop", "--time", "0", &kept.container()])?;
    kept.prints(&["cat", "/log"], "once\nstart\nstart\n")?;
    kept.end()
}
