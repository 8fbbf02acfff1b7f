//! Devices of the host: its disks above all.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use anyhow::{Result, ensure};

use super::{Case, Ground, Rows, refused, works};
use crate::{Entry, Tree};

pub(super) const CASES: &[Case] = &[
    ("disks_cannot_be_made", made),
    ("disks_cannot_be_made_in_a_shared_folder", made_in_share),
    ("disks_of_an_image_cannot_be_opened", shipped),
    ("devices_of_the_host_stay_as_they_are", unchanged),
    ("the_kernel_s_own_files_are_closed", kernels),
];

const FOLDERS: [&str; 5] = ["/", "/tmp", "/dev", "/dev/shm", "/etc"];
/// A disk that every host has at least the number of, and nobody uses.
const LOOP: Entry = Entry::Disk(7, 0);

fn use_refused(rows: &Rows) -> Result<()> {
    for (row, value) in rows.iter().filter(|(row, _)| row.starts_with("use.")) {
        ensure!(value.starts_with("errno "), "{row} is {value:?}: {rows:#?}");
    }
    Ok(())
}

fn made(ground: &Ground<'_>) -> Result<()> {
    let rows = ground.attempt(&[&["devices"][..], &FOLDERS].concat())?;
    use_refused(&rows)?;
    refused(&rows, &["make.", "use."])?;
    // On the host root can make and use one.
    if ground.is_root() {
        let rows = ground.on_host(&["devices", "/dev"])?;
        works(&rows, "make.null./dev")?;
        works(&rows, "use.null./dev.write")?;
    }
    Ok(())
}

fn made_in_share(ground: &Ground<'_>) -> Result<()> {
    let folder = ground.folder()?;
    let share = folder.to_string_lossy().into_owned();
    let app =
        ground.way.flake(ground.host, &Tree::PLAIN, "escape-disks", &["--share", &share, "--as-image"])?;
    let rows = ground.way.attempt(&app, &["devices", &share])?;
    refused(&rows, &["make.", "use."])?;
    ensure!(fs::read_dir(&folder)?.count() == 1, "something is left in {share}");
    // A device that is there already is none inside.
    if ground.is_root() {
        let rows = ground.on_host(&["devices", &share])?;
        works(&rows, &format!("make.null.{share}"))?;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.join("null"),
            rustix::fs::FileType::CharacterDevice,
            rustix::fs::Mode::from_raw_mode(0o666),
            rustix::fs::makedev(1, 3),
        )?;
        let null = format!("{share}/null");
        refused(&ground.way.attempt(&app, &["open", &null])?, &[&null])?;
        works(&ground.on_host(&["open", &null])?, &format!("{null}.write"))?;
    }
    Ok(())
}

/// Podman unpacks devices for root only.
fn shipped(ground: &Ground<'_>) -> Result<()> {
    const DISKS: Tree = Tree {
        name: "disks",
        entries: &[("disk", LOOP), ("dev", Entry::Folder(0o755)), ("dev/loop0", LOOP), ("tmp/disk", LOOP)],
        ..Tree::PLAIN
    };
    if ground.way.owner.id != 0 {
        return Ok(());
    }
    let Ok(app) = ground.way.flake(ground.host, &DISKS, "escape-shipped", &[]) else {
        // Nobody else's store takes it at all.
        ensure!(!ground.is_root(), "root cannot import an image with devices");
        return Ok(());
    };
    for path in ["/disk", "/tmp/disk", "/dev/loop0"] {
        refused(&ground.way.attempt(&app, &["open", path])?, &[path])?;
    }
    Ok(())
}

/// Mode, owner, times and attributes of the host's device files, whatever is done to those inside.
fn unchanged(ground: &Ground<'_>) -> Result<()> {
    let paths = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
    let look = || -> Result<Vec<(u32, u32, u32)>> {
        paths
            .iter()
            .map(|path| Ok(fs::metadata(path).map(|found| (found.mode(), found.uid(), found.gid()))?))
            .collect()
    };
    let before = look()?;
    let script = "for file in /dev/* /proc/keys /proc/timer_list; do busybox chmod 600 $file; busybox chown 5:5 $file; \
                  busybox rm -f $file; busybox mv $file /tmp; busybox touch -d 2001-01-01 $file; done; ls -la /dev";
    let outcome = ground.shell(script)?;
    ensure!(outcome.success(), "{outcome}");
    ensure!(look()? == before, "the host's devices were changed");
    // Whoever is root inside may do that to the own ones.
    if ground.is_root() {
        ensure!(outcome.out().contains("crw-------    1 5 "), "nothing was changed inside: {outcome}");
    }
    Ok(())
}

fn kernels(ground: &Ground<'_>) -> Result<()> {
    let paths = ["/proc/kcore", "/proc/sysrq-trigger", "/proc/kmsg", "/dev/mem", "/dev/kmsg", "/dev/port"];
    for path in paths {
        let rows = ground.attempt(&["open", path])?;
        refused(&rows, &[&format!("{path}.write")])?;
        let read = rows.get(&format!("{path}.read")).map_or("", String::as_str);
        ensure!(read.starts_with("errno ") || read == "ok 0", "{path} can be read: {rows:#?}");
    }
    let rows = ground.attempt(&["look", "/proc/keys", "/proc/timer_list", "/sys/firmware", "/proc/acpi"])?;
    for (row, value) in
        rows.iter().filter(|(row, _)| row.starts_with("content.") || row.starts_with("names."))
    {
        ensure!(value.is_empty(), "{row} shows {value:?}");
    }
    ensure!(rows.len() >= 3, "nothing was looked at: {rows:#?}");
    Ok(())
}
