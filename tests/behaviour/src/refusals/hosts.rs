//! Hosts on which something is absent, full or in the way.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, BOB, Call, Image, NOSUB, ROOT};

use super::{Case, Flakes, readable, refused, works};

pub(super) const CASES: &[Case] = &[
    ("no_runtime_directory", no_runtime_directory),
    ("a_runtime_directory_with_a_very_long_name", long_runtime_directory),
    ("a_read_only_home", read_only_home),
    ("a_user_without_subordinate_ids", no_subordinate_ids),
    ("a_disk_that_is_full_while_registering", full_disk),
    ("a_full_disk_keeps_the_old_registration", full_disk_and_force),
];

/// Alone, since the programs are missing for everybody.
pub(super) const ALONE: &[Case] = &[("no_sudo", no_sudo)];

fn no_runtime_directory(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("no-runtime")?;
    let mut command = ADA.command(&flake.app);
    command.args(["echo", "word"]).env_remove("XDG_RUNTIME_DIR");
    works(&Call::new(command).run()?)
}

/// Socket paths end at 108 bytes; podman has its own difficulties there, so a refusal is as good.
fn long_runtime_directory(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("long-runtime")?;
    let dir = ADA.home().join("r".repeat(150));
    fs::create_dir(&dir)?;
    fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
    chown(&dir, Some(ADA.id), Some(ADA.id))?;
    let mut command = ADA.command(&flake.app);
    command.args(["echo", "word"]).env("XDG_RUNTIME_DIR", dir);
    let outcome = Call::new(command).run()?;
    works(&outcome).or_else(|_| refused(&outcome, "long-runtime"))
}

/// podman keeps its store there, so the call works only as far as podman does.
fn read_only_home(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("read-only")?;
    let mut command = ROOT.command("/usr/bin/unshare");
    let script = r#"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@""#;
    let call = ADA.command(&flake.app);
    command.args(["--mount", "/bin/sh", "-c", script, "sh"]).arg(ADA.home());
    command.arg(call.get_program()).args(call.get_args()).args(["echo", "word"]).env_clear();
    command.envs(call.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let outcome = Call::new(command).run()?;
    works(&outcome).or_else(|_| refused(&outcome, "read-only"))
}

/// A system flake with files of several owners, called by somebody who has one id: the message says what is
/// missing.
fn no_subordinate_ids(flakes: &Flakes<'_>) -> Result<()> {
    let app = flakes.host.register(&ROOT, ("nosub-flake", &Image::USERIMG, "/bin/busybox"), &[])?;
    let mut command = NOSUB.command(&app);
    command.args(["echo", "word"]);
    let outcome = Call::new(command).run()?;
    refused(&outcome, "/etc/subuid")?;
    ensure!(outcome.err().contains("nosub"), "{outcome}");
    Ok(())
}

/// Mounts a tiny file system over bob's registrations and fills it.
struct FullDisk;

const BOB_FLAKES: &str = "/home/bob/.config/flakes";

impl FullDisk {
    fn make() -> Result<Self> {
        let mut mount = ROOT.command("/usr/bin/mount");
        mount.args(["-t", "tmpfs", "-o", "size=16k,mode=755,uid=4243,gid=4243", "tmpfs", BOB_FLAKES]);
        Call::new(mount).check()?;
        Ok(Self)
    }

    /// Fills what is left; more than one size, since the last bytes count.
    fn fill() -> Result<()> {
        let filler = Path::new(BOB_FLAKES).join("filler");
        let full = fs::write(filler, vec![0; 1 << 20]);
        ensure!(full.is_err(), "the disk has no end");
        Ok(())
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        let mut umount = ROOT.command("/usr/bin/umount");
        umount.arg(BOB_FLAKES);
        let _ = Call::new(umount).run();
    }
}

fn register_as_bob(flakes: &Flakes<'_>, more: &[&str]) -> Result<flake_testkit::Outcome> {
    let image = flakes.host.image(&BOB, &Image::BOX)?;
    let words =
        ["podman", "register", "--container", &image, "--target", "/bin/busybox", "--app", "/home/bob/full"];
    Ok(flakes.host.flake_ctl(&BOB, words.iter().chain(more)).run()?)
}

/// Both run on bob's registrations, one after the other.
fn lock() -> std::sync::MutexGuard<'static, ()> {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn prepare_bob() -> Result<()> {
    let mut make = BOB.command("/usr/bin/mkdir");
    make.args(["-p", BOB_FLAKES]);
    Call::new(make).check()?;
    Ok(())
}

fn full_disk(flakes: &Flakes<'_>) -> Result<()> {
    let _lock = lock();
    prepare_bob()?;
    let _disk = FullDisk::make()?;
    FullDisk::fill()?;
    let outcome = register_as_bob(flakes, &[])?;
    ensure!(!outcome.success(), "{outcome}");
    readable(&outcome, "no space left")?;
    ensure!(fs::symlink_metadata("/home/bob/full").is_err(), "the link was left");
    let left: Vec<_> = fs::read_dir(BOB_FLAKES)?.flatten().map(|entry| entry.file_name()).collect();
    ensure!(left == ["filler"], "{left:?}");
    Ok(())
}

fn full_disk_and_force(flakes: &Flakes<'_>) -> Result<()> {
    let _lock = lock();
    prepare_bob()?;
    let _disk = FullDisk::make()?;
    let outcome = register_as_bob(flakes, &[])?;
    ensure!(outcome.success(), "{outcome}");
    let before = fs::read_to_string(Path::new(BOB_FLAKES).join("full.yaml"))?;
    FullDisk::fill()?;
    let outcome = register_as_bob(flakes, &["--force", "--workdir", "/tmp"])?;
    ensure!(!outcome.success(), "{outcome}");
    let after = fs::read_to_string(Path::new(BOB_FLAKES).join("full.yaml")).context("the old one is gone")?;
    ensure!(before == after, "{after}");
    let mut command = BOB.command("/home/bob/full");
    command.args(["echo", "word"]);
    works(&Call::new(command).run()?)?;
    fs::remove_file("/home/bob/full")?;
    Ok(())
}

fn no_sudo(flakes: &Flakes<'_>) -> Result<()> {
    let options = ["--run-as", "root"];
    let app = flakes.host.register(&ROOT, ("no-sudo", &Image::BOX, "/bin/busybox"), &options)?;
    fs::rename("/usr/bin/sudo", "/usr/bin/sudo.aside")?;
    let mut command = ADA.command(&app);
    command.args(["echo", "word"]);
    let outcome = Call::new(command).run();
    fs::rename("/usr/bin/sudo.aside", "/usr/bin/sudo")?;
    refused(&outcome?, "sudo")
}
