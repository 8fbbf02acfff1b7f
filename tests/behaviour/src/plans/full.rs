//! File systems without any space left.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, ROOT};

use super::ground::{Case, Flake, Ground, failed, works};

/// Alone, since everybody writes there.
pub(super) const ALONE: &[Case] = &[
    ("tmp_is_full", |ground| by_a_mount(ground, Path::new("/tmp"), "mode=1777")),
    ("shm_is_full", |ground| in_place(ground, Path::new("/dev/shm"))),
    ("run_is_full", |ground| in_place(ground, Path::new("/run"))),
    ("the_disk_of_the_state_is_full", state),
];

fn shell(script: &str, words: &[&Path]) -> Result<()> {
    let mut command = ROOT.command("/bin/sh");
    command.args(["-ec", script, "sh"]).args(words);
    Call::new(command).check().context("prepare the host")?;
    Ok(())
}

/// A file system with nothing left; in the end it is as it was.
struct Full<'a> {
    folder: &'a Path,
    undo: &'static str,
}

impl Drop for Full<'_> {
    fn drop(&mut self) {
        let _ = shell(self.undo, &[self.folder]);
    }
}

impl Full<'_> {
    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }

    fn fill(&self) -> Result<()> {
        let full = fs::write(self.filler(), vec![0; 16 << 20]);
        ensure!(full.is_err(), "there is space in {}", self.folder.display());
        Ok(())
    }
}

/// A small one over a folder.
fn mounted<'a>(folder: &'a Path, options: &str) -> Result<Full<'a>> {
    fs::create_dir_all(folder)?;
    let script = format!("mount -t tmpfs -o size=1m,{options} tmpfs \"$1\"");
    shell(&script, &[folder])?;
    Ok(Full { folder, undo: "umount -l \"$1\"" })
}

fn by_a_mount(ground: &Ground<'_>, folder: &Path, options: &str) -> Result<()> {
    let flake = ground.flake()?;
    let full = mounted(folder, options)?;
    full.fill()?;
    on_full(&flake)?;
    drop(full);
    works(&flake.echo()?)
}

/// The one that is there, with all that is in it, made as small as it can be.
fn in_place(ground: &Ground<'_>, folder: &Path) -> Result<()> {
    let flake = ground.flake()?;
    let script =
        "used=$(df -k --output=used \"$1\" | tail -n 1); mount -o remount,size=$((used + 16))k \"$1\"";
    shell(script, &[folder])?;
    let full = Full { folder, undo: "rm -f \"$1/filler\"; mount -o remount,size=50% \"$1\"" };
    full.fill()?;
    on_full(&flake)?;
    drop(full);
    works(&flake.echo()?).context("with space again")?;
    ensure!(flake.goes_straight()?);
    flake.keeps_its_plan("with space again")
}

/// With a plan nothing has to be written; without one podman has to.
fn on_full(flake: &Flake<'_>) -> Result<()> {
    flake.keeps_its_plan("nothing to write")?;
    fs::remove_file(&flake.plan)?;
    let outcome = flake.echo()?;
    works(&outcome).or_else(|_| failed(&outcome, "no space left"))
}

fn state(ground: &Ground<'_>) -> Result<()> {
    let folder = ground.state();
    let caller = ground.way.caller.id;
    let mode = if caller == 0 { "755" } else { "700" };
    let full = mounted(&folder, &format!("mode={mode},uid={caller},gid={caller}"))?;
    let flake = ground.flake()?;
    full.fill()?;
    flake.keeps_its_plan("nothing to write")?;
    let before = flake.written()?;
    flake.make_stale()?;
    for _ in 0..2 {
        works(&flake.echo()?).context("nothing can be written")?;
        ensure!(flake.written()? == before, "what there was is gone");
    }
    fs::remove_file(full.filler())?;
    flake.is_planned_anew("with space again", || Ok(()))
}
