//! lima-vm/lima 209: the start says READY before the provisioning scripts are done, and never that one failed.

use anyhow::{Result, ensure};

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-209")?;
    kept.layer("provision:\n- script: sleep 1; echo the reason >&2; exit 3\n")?;
    let outcome = kept.call(&["echo", "ready"])?;
    ensure!(outcome.code == Some(125) && outcome.stdout.is_empty(), "{outcome}");
    ensure!(outcome.err().contains("exit status 3") && outcome.err().contains("the reason"), "{outcome}");
    kept.layer("provision:\n- script: sleep 1; echo done >/done\n")?;
    kept.prints(&["cat", "/done"], "done\n")?;
    kept.end()
}
