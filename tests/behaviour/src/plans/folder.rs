//! The folder of the plans.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use anyhow::{Result, ensure};
use flake_testkit::{BOB, Call};

use super::ground::{Case, Flake, Ground, works};

pub(super) const CASES: &[Case] = &[
    ("a_folder_that_cannot_be_written", cannot_be_written),
    ("a_file_system_that_cannot_be_written", file_system),
];

/// Alone, since the folder is everybody's.
pub(super) const ALONE: &[Case] = &[("no_folder", none), ("no_state", no_state)];

/// In a mount namespace of the call's own, since the folder is everybody's.
const READ_ONLY: &str = r#"mount --bind "$1" "$1"; mount -o remount,bind,ro "$1""#;

fn cannot_be_written(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let plans = ground.state().join("plans");
    let before = flake.written()?;
    let call = || Call::new(flake.within(READ_ONLY, &[&plans])).run();
    works(&call()?)?;
    ensure!(flake.written()? == before);
    fs::remove_file(&flake.plan)?;
    for _ in 0..2 {
        works(&call()?)?;
        ensure!(!flake.plan.exists());
    }
    // Another's, closed or not.
    for script in [
        r#"mount --bind "$2" "$1""#,
        r#"mount --bind "$2" "$1"; chmod 755 "$2""#,
        r#"mount --bind "$2" "$1"; chmod 700 "$2"; chown 0:0 "$2""#,
    ] {
        let others = std::path::PathBuf::from(format!("/tmp/plans-{}", ground.host.mark()));
        fs::create_dir(&others)?;
        chown(&others, Some(BOB.id), Some(BOB.id))?;
        fs::set_permissions(&others, Permissions::from_mode(0o700))?;
        works(&Call::new(flake.within(script, &[&plans, &others])).run()?)?;
        fs::remove_dir_all(&others)?;
    }
    flake.keeps_its_plan("as before").or_else(|_| {
        works(&flake.echo()?)?;
        ensure!(flake.goes_straight()?);
        Ok(())
    })
}

fn file_system(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let state = ground.state();
    let before = flake.written()?;
    works(&Call::new(flake.within(READ_ONLY, &[&state])).run()?)?;
    ensure!(flake.written()? == before);
    flake.make_stale()?;
    works(&Call::new(flake.within(READ_ONLY, &[&state])).run()?)?;
    ensure!(flake.written()? == before);
    flake.is_planned_anew("writable again", || Ok(()))
}

fn none(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let folder = ground.state().join("plans");
    let mode = || Ok::<_, anyhow::Error>(fs::metadata(&folder)?.permissions().mode() & 0o7777);
    let before = mode()?;
    fs::remove_dir_all(&folder)?;
    made_anew(ground, &flake)?;
    ensure!(mode()? == before, "{:o} instead of {before:o}", mode()?);
    // A file in its place: nothing can be made there.
    fs::remove_dir_all(&folder)?;
    fs::write(&folder, "")?;
    for _ in 0..2 {
        works(&flake.echo()?)?;
    }
    fs::remove_file(&folder)?;
    made_anew(ground, &flake)
}

/// What is noted of the image is gone as well.
fn no_state(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    fs::remove_dir_all(ground.state())?;
    made_anew(ground, &flake)
}

fn made_anew(ground: &Ground<'_>, flake: &Flake<'_>) -> Result<()> {
    works(&flake.echo()?)?;
    ensure!(flake.goes_straight()?);
    ensure!(fs::metadata(ground.state().join("plans"))?.uid() == ground.way.caller.id);
    flake.keeps_its_plan("in a new folder")
}
