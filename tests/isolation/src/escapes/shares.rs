//! What of the host is shared: no more than was said.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use anyhow::{Result, ensure};
use flake_testkit::Call;

use super::{Case, Ground, has, refused, works};
use crate::{PROBE, Tree};

pub(super) const CASES: &[Case] = &[
    ("what_is_shared_for_reading_is_not_written", read_only),
    ("volumes_for_reading_are_not_written", read_only_volume),
    ("a_share_of_the_state_shows_no_root", state),
    ("a_share_is_not_led_over_proc", over_proc),
    ("programs_in_a_share_give_no_rights", setuid),
    ("attributes_of_a_shared_file_stay", attributes),
];

/// A folder with a mount of its own below it.
fn nested(ground: &Ground<'_>) -> Result<String> {
    let folder = ground.folder()?;
    let below = folder.join("below");
    fs::create_dir(&below)?;
    let mut mount = Command::new("/usr/bin/mount");
    mount.args(["-t", "tmpfs", "-o", "mode=0777", "none"]).arg(&below);
    Call::new(mount).check()?;
    fs::write(below.join("file"), "the host's\n")?;
    fs::set_permissions(below.join("file"), Permissions::from_mode(0o666))?;
    Ok(folder.display().to_string())
}

/// Writing there fails, by every name, and also after attempts at the mounts.
fn is_read_only(ground: &Ground<'_>, app: &std::path::Path, inside: &str) -> Result<()> {
    let paths = ["", "/file", "/below", "/below/file"].map(|path| format!("{inside}{path}"));
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    refused(&ground.way.attempt(app, &[&["write"][..], &paths].concat())?, &["write."])?;
    let below = format!("{inside}/below");
    let script = "/bin/probe try mounts \"$1\" \"$2\" >/dev/null; shift 2; exec /bin/probe try write \"$@\"";
    let words = [&["sh", "-c", script, "sh", inside, below.as_str()][..], &paths].concat();
    refused(&crate::way::lines(&ground.way.call(app, &words)?)?, &["write."])
}

fn read_only(ground: &Ground<'_>) -> Result<()> {
    let folder = nested(ground)?;
    let share = format!("{folder}:ro");
    let app = ground.way.flake(ground.host, &Tree::PLAIN, "escape-ro", &["--share", &share, "--as-image"])?;
    is_read_only(ground, &app, &folder)?;
    has(&std::path::Path::new(&folder).join("below/file"), "the host's\n")?;
    let app =
        ground.way.flake(ground.host, &Tree::PLAIN, "escape-rw", &["--share", &folder, "--as-image"])?;
    let file = format!("{folder}/below/file");
    works(&ground.way.attempt(&app, &["write", &folder, &file])?, &format!("write.{file}"))
}

fn read_only_volume(ground: &Ground<'_>) -> Result<()> {
    let folder = nested(ground)?;
    let option = format!("\\--volume {folder}:/data:ro");
    let app = ground.way.flake(ground.host, &Tree::PLAIN, "escape-volume", &["--opt", &option])?;
    is_read_only(ground, &app, "/data")
}

fn setuid(ground: &Ground<'_>) -> Result<()> {
    const OTHER: Tree = Tree { name: "somebody", changes: &["USER 1000:1000"], ..Tree::PLAIN };
    let folder = ground.folder()?;
    for (name, mode) in [("plain", 0o755), ("setuid", 0o4755)] {
        fs::write(folder.join(name), PROBE)?;
        fs::set_permissions(folder.join(name), Permissions::from_mode(mode))?;
    }
    let share = folder.display().to_string();
    let app = ground.way.flake(ground.host, &OTHER, "escape-suid", &["--share", &share, "--as-image"])?;
    let rights = |name: &str| -> Result<String> {
        let script = format!("{share}/{name} facts | busybox grep '^status.\\(Uid\\|Gid\\|Cap\\)'");
        let outcome = ground.way.call(&app, &["sh", "-c", &script])?;
        ensure!(outcome.success(), "{outcome}");
        Ok(outcome.out())
    };
    let (plain, setuid) = (rights("plain")?, rights("setuid")?);
    ensure!(plain == setuid && plain.contains("Uid=1000 1000"), "{plain}\n{setuid}");
    // On the host it does what it says.
    let mut command = flake_testkit::ADA.command(folder.join("setuid"));
    command.arg("facts");
    let rows = crate::way::lines(&Call::new(command).run()?)?;
    ensure!(rows.get("status.Uid").is_some_and(|ids| ids.starts_with("4242 0 ")), "{rows:#?}");
    Ok(())
}

/// Those that hold for root as well: immutable, append only.
fn attributes(ground: &Ground<'_>) -> Result<()> {
    let folder = ground.folder()?;
    let share = folder.display().to_string();
    let file = format!("{share}/file");
    let app =
        ground.way.flake(ground.host, &Tree::PLAIN, "escape-flags", &["--share", &share, "--as-image"])?;
    refused(&ground.way.attempt(&app, &["flags", &file])?, &["flags.set"])?;
    fs::write(&file, "as ever\n")?;
    has(&folder.join("file"), "as ever\n")
}

/// The root is put together over a folder of the state; a volume that the folder is in was taken before.
fn state(ground: &Ground<'_>) -> Result<()> {
    let folder = match ground.is_root() {
        true => "/var/lib/flakes".into(),
        false => ground.way.user.home().join(".local/state/flakes"),
    };
    // It is there once there is a plan.
    ground.shell("true")?;
    let option = format!("\\--volume {}:/state", folder.display());
    let app = ground.way.flake(ground.host, &Tree::PLAIN, "escape-state", &["--opt", &option])?;
    let outcome =
        ground.way.call(&app, &["sh", "-c", "ls /state/plans; ls /state/plans/* | grep -c proc"])?;
    let seen = outcome.out();
    let names: Vec<&str> = seen.lines().collect();
    ensure!(names.iter().any(|name| name.contains("escape-state")), "no plans are seen: {outcome}");
    ensure!(!names.iter().any(|name| matches!(*name, "root" | "upper" | "work" | "files")), "{outcome}");
    Ok(())
}

/// By a link of the image's, which podman refuses as well.
fn over_proc(ground: &Ground<'_>) -> Result<()> {
    const LED: Tree = Tree { name: "led", entries: &[("srv", crate::Entry::Link("/proc"))], ..Tree::PLAIN };
    let app = ground.way.flake(ground.host, &LED, "escape-led", &["--share", "/srv", "--as-image"])?;
    let outcome = ground.way.call(&app, &["true"])?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("/srv"), "{outcome}");
    Ok(())
}
