//! Elektrobit/flake-pilot 113: a level of quotes is eaten on the way to the app.

use anyhow::{Result, ensure};

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-113")?;
    for script in ["'ls -l'", "ls -l /bin/busybox | wc -l", "echo \"a  b\" 'c  d'", "echo \\\\ '\\'"] {
        let expected = ground.control.call(&["sh", "-c", script]).run()?;
        let found = ground.app.call(&["sh", "-c", script]).run()?;
        ensure!(found == expected, "{script}: {expected}, but {found}");
        let found = kept.call(&["sh", "-c", script])?;
        ensure!(found == expected, "{script} in an instance that is kept: {expected}, but {found}");
    }
    kept.end()
}
