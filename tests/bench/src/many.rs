//! What the number of registrations does to a call.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use flake_testkit::Subject;

use crate::direct::time;
use crate::launches::LAUNCHES;
use crate::pairs::in_turn;
use crate::table::ratio;

/// Registered beside the one that is called.
const MANY: usize = 999;

/// Beside 999 others a call costs what it costs alone.
pub(crate) fn beside(subject: &Subject) -> Result<()> {
    let folder = Path::new("/usr/share/flakes");
    let others = Path::new("/usr/share/others");
    fs::create_dir_all(others)?;
    let name = subject.app.file_name().context("no name")?.to_string_lossy().into_owned();
    let text = fs::read_to_string(folder.join(format!("{name}.yaml")))?;
    for number in 0..MANY {
        fs::write(
            others.join(format!("other-{number}.yaml")),
            text.replace(&name, &format!("other-{number}")),
        )?;
        fs::create_dir_all(others.join(format!("other-{number}.d")))?;
    }
    let call = || time(subject.user, &subject.app, &["true"]);
    let pairs = in_turn(
        LAUNCHES,
        || {
            move_all(others, folder)?;
            call()
        },
        || {
            move_all(folder, others)?;
            call()
        },
    )?;
    ratio("launch beside 999 flakes / alone", &pairs, 1.1);
    Ok(())
}

/// Moves the other registrations.
fn move_all(from: &Path, to: &Path) -> Result<()> {
    for number in 0..MANY {
        for suffix in ["yaml", "d"] {
            let name = format!("other-{number}.{suffix}");
            if from.join(&name).exists() {
                fs::rename(from.join(&name), to.join(&name))?;
            }
        }
    }
    Ok(())
}
