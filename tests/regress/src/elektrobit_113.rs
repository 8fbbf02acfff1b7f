//! Elektrobit/flake-pilot 113: a level of quotes is eaten on the way to the app.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    for script in ["'ls -l'", "ls -l /bin/busybox | wc -l", "echo \"a  b\" 'c  d'", "echo \\\\ '\\'"] {
        let expected = ground.control.call(&["sh", "-c", script]).run()?;
        let found = ground.app.call(&["sh", "-c", script]).run()?;
        ensure!(found == expected, "{script}: {expected}, but {found}");
    }
    Ok(())
}
