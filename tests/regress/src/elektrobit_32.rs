//! Elektrobit/flake-pilot 32: instances pile up, without a limit and without an end.
//!
//! With room for one, a second is refused with the list of what could go; one that nobody has used for long goes by
//! itself when another is made.

use anyhow::{Result, ensure};
use flake_testkit::ADA;
use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::time::{Duration, SystemTime};

use crate::Ground;
use crate::kept::Kept;

const DAY: Duration = Duration::from_secs(24 * 3600);

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-32")?;
    kept.prints(&["true"], "")?;
    let settings = ADA.home().join(".config/flakes.yml");
    fs::write(&settings, "instances-per-user: 1\ninstances-timeout: 2 d\n")?;
    chown(&settings, Some(ADA.id), Some(ADA.id))?;
    let result = limited(&kept);
    fs::remove_file(&settings)?;
    result?;
    kept.end()
}

fn limited(kept: &Kept<'_>) -> Result<()> {
    let refused = kept.call(&["@second", "true"])?;
    let names_it = refused.err().contains("kept-32") && refused.err().contains("flake-ctl rm");
    ensure!(refused.code == Some(125) && names_it, "{refused}");
    ensure!(kept.containers()?.len() == 1);
    let note = File::options().write(true).open(kept.notes().join("kept-32"))?;
    note.set_modified(SystemTime::now() - 3 * DAY)?;
    drop(note);
    kept.prints(&["@second", "echo", "room"], "room\n")?;
    let left = kept.containers()?;
    ensure!(left.len() == 1, "{left:?}");
    Ok(())
}
