//! A plan that is not one, or another's.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, ROOT};

use super::ground::{Case, Flake, Ground, works};

pub(super) const CASES: &[Case] = &[
    ("a_damaged_plan", damaged),
    ("something_else_in_its_place", something_else),
    ("a_folder_in_its_place", folder),
    ("a_plan_of_another_release", another_release),
    ("a_plan_of_another_user", another_user),
    ("a_plan_that_others_may_write", others_may_write),
];

fn damaged(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let change = |change: fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(&flake.plan)?;
        change(&mut bytes);
        Ok(fs::write(&flake.plan, bytes)?)
    };
    flake.is_planned_anew("a byte flipped", || {
        change(|bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        })
    })?;
    flake.is_planned_anew("cut", || change(|bytes| bytes.truncate(bytes.len() / 2)))?;
    flake.is_planned_anew("empty", || change(Vec::clear))?;
    flake.is_planned_anew("longer than any", || change(|bytes| bytes.resize(8 << 20, 0)))
}

/// What was there is replaced, and what it leads to is not touched.
fn something_else(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let target = format!("/tmp/plan-target-{}", ground.host.mark());
    flake.is_planned_anew("a link", || {
        fs::copy(&flake.plan, &target)?;
        fs::remove_file(&flake.plan)?;
        Ok(symlink(&target, &flake.plan)?)
    })?;
    ensure!(fs::read(&target)?.starts_with(b"flake-plan "), "the link's target was written to");
    fs::remove_file(&target)?;
    flake.is_planned_anew("a link to nowhere", || {
        fs::remove_file(&flake.plan)?;
        Ok(symlink(&target, &flake.plan)?)
    })?;
    ensure!(!Path::new(&target).exists(), "the link's target was made");
    flake.is_planned_anew("a named pipe", || {
        fs::remove_file(&flake.plan)?;
        let mut make = ROOT.command("/usr/bin/mkfifo");
        make.arg(&flake.plan);
        Call::new(make).check()?;
        Ok(())
    })
}

/// Nothing can be written there; every call goes through the agent.
fn folder(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    fs::remove_file(&flake.plan)?;
    fs::create_dir(&flake.plan)?;
    fs::write(flake.plan.join("file"), "")?;
    for _ in 0..2 {
        works(&flake.echo()?)?;
    }
    flake.is_planned_anew("without the folder", || Ok(fs::remove_dir_all(&flake.plan)?))
}

fn another_release(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.is_planned_anew("another first line", || {
        let bytes = fs::read(&flake.plan)?;
        let end = bytes.iter().position(|byte| *byte == b'\n').context("no first line")?;
        Ok(fs::write(&flake.plan, [b"flake-plan 999.0.0 1", &bytes[end..]].concat())?)
    })
}

fn another_user(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let others = others_plan(ground, &flake)?;
    let own = ground.way.caller.id;
    for owner in [own, 0, ADA.id] {
        flake.is_planned_anew(&format!("somebody else's, the file is of {owner}"), || {
            fs::copy(&others, &flake.plan)?;
            Ok(chown(&flake.plan, Some(owner), Some(owner))?)
        })?;
    }
    // One's own, given away: whoever has it now could have changed it.
    if own == 0 {
        flake.is_planned_anew("given away", || Ok(chown(&flake.plan, Some(ADA.id), None)?))?;
    }
    Ok(())
}

/// A plan that somebody else has for a flake of the same name.
fn others_plan(ground: &Ground<'_>, flake: &Flake<'_>) -> Result<std::path::PathBuf> {
    if ground.way.owner.id != ground.way.caller.id {
        return Ok(Path::new("/var/lib/flakes/plans").join(&flake.name));
    }
    let other = if ground.way.caller.id == 0 { &ADA } else { &ROOT };
    ground.host.register(other, (&flake.name, &flake_testkit::Image::BOX, "/bin/busybox"), &[])?;
    let state =
        if other.id == 0 { "/var/lib/flakes".into() } else { other.home().join(".local/state/flakes") };
    Ok(state.join("plans").join(&flake.name))
}

fn others_may_write(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    for mode in [0o620, 0o602] {
        flake.is_planned_anew(&format!("{mode:o}"), || {
            Ok(fs::set_permissions(&flake.plan, Permissions::from_mode(mode))?)
        })?;
    }
    Ok(())
}
