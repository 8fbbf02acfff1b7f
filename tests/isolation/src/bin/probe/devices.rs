//! What is in `/dev`: numbers, modes, owners, links, and whether it can be opened.

use crate::kernel::error;
use crate::say;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

pub(crate) fn all() {
    folder(Path::new("/dev"));
}

fn folder(path: &Path) {
    let Ok(entries) = fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let shown = path.display();
        let Ok(found) = path.symlink_metadata() else { continue };
        let kind = found.file_type();
        if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap_or_default();
            say(format_args!("device.{shown}.link"), target.display());
            continue;
        }
        let device = found.rdev();
        let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff_ff00);
        let letter = match () {
            () if kind.is_dir() => 'd',
            () if kind.is_char_device() => 'c',
            () if kind.is_block_device() => 'b',
            () => 'f',
        };
        say(format_args!("device.{shown}.kind"), format_args!("{letter} {major}:{minor}"));
        say(format_args!("device.{shown}.mode"), format_args!("{:o}", found.mode() & 0o7777));
        say(format_args!("device.{shown}.owner"), format_args!("{}:{}", found.uid(), found.gid()));
        if kind.is_dir() {
            folder(&path);
            continue;
        }
        for (name, is_written) in [("read", false), ("write", true)] {
            let opened = OpenOptions::new().read(!is_written).write(is_written).open(&path);
            let became = opened.map_or_else(|cause| error(&cause), |_| "ok".to_owned());
            say(format_args!("device.{shown}.{name}"), became);
        }
    }
}
