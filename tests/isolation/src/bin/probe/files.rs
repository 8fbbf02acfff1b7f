//! What is seen at a path, and what can be written there.

use crate::kernel::error;
use crate::say;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// No fact is longer, in bytes.
const MOST: usize = 2000;

/// What is at a path: its kind, mode and owner, and the names in it or the beginning of its content.
pub(crate) fn look(path: &str) {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(cause) => return say(format_args!("path.{path}"), error(&cause)),
    };
    let kind = if found.is_dir() { "folder" } else { "file" };
    say(
        format_args!("path.{path}"),
        format_args!("{kind} {:o} {}:{}", found.mode() & 0o7777, found.uid(), found.gid()),
    );
    if found.is_dir() {
        say(format_args!("names.{path}"), names(Path::new(path)));
    } else if found.is_symlink() {
        say(format_args!("link.{path}"), fs::read_link(path).unwrap_or_default().display());
    } else {
        say(format_args!("content.{path}"), content(path));
    }
}

/// What a file has in it.
pub(crate) fn content(path: &str) -> String {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]).into_owned(),
        Err(cause) => error(&cause),
    }
}

/// The names in a folder.
fn names(path: &Path) -> String {
    match fs::read_dir(path) {
        Ok(entries) => {
            let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
            let mut names: Vec<_> = names.collect();
            names.sort();
            names.join(" ")
        }
        Err(cause) => error(&cause),
    }
}

/// Whether a file can be opened for writing, or a name be made in a folder. Nothing is written.
pub(crate) fn write(path: &str) {
    let became = match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            let inside = Path::new(path).join("flake-probe");
            fs::create_dir(&inside).map(|()| {
                let _ = fs::remove_dir(&inside);
            })
        }
        Ok(_) => OpenOptions::new().write(true).open(path).map(drop),
        Err(cause) => Err(cause),
    };
    say(format_args!("write.{path}"), became.map_or_else(|cause| error(&cause), |()| "ok".to_owned()));
}
