//! Files that belong to a user's subordinate ids: only podman's own user namespace may read them.

use super::Podman;
use crate::run::{ToolError, capture};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnKind {
    /// A plain file: its content and permission bits.
    File(Vec<u8>, u32),
    /// A folder.
    Folder,
    /// Something else, or a file that is too large.
    Other,
}

impl Podman {
    /// A file as root of the user's namespace reads it; `/proc/self` is that of a process in there.
    ///
    /// # Errors
    /// Podman's own failure, also that there is no such file.
    pub fn unshare_read(&self, path: &Path) -> Result<Vec<u8>, ToolError> {
        capture(self.command(["unshare", "cat", "--"]).arg(path))
    }

    /// Several files and folders with all that is in them, as root of the user's namespace reads them, at most
    /// `most` bytes of each file.
    ///
    /// # Errors
    /// Podman's own failure or tar's, also that one of them is not there.
    pub fn unshare_read_all(
        &self,
        paths: &[PathBuf],
        most: u64,
    ) -> Result<BTreeMap<PathBuf, OwnKind>, ToolError> {
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut tar = self.command(["unshare", "tar", "--create", "--absolute-names"]);
        let output = capture(tar.args(["--file=-", "--"]).args(paths))?;
        entries(&output, most).map_err(|error| self.unexpected("unshare tar", &error))
    }
}

fn entries(archive: &[u8], most: u64) -> io::Result<BTreeMap<PathBuf, OwnKind>> {
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(archive).entries()? {
        let entry = entry?;
        let mut path = entry.path_bytes().into_owned();
        // Of a folder the name ends with a slash.
        while path.len() > 1 && path.last() == Some(&b'/') {
            path.pop();
        }
        let kind = entry.header().entry_type();
        let kind = if kind.is_dir() {
            OwnKind::Folder
        } else if kind.is_file() && entry.size() <= most {
            let mode = entry.header().mode()? & 0o7777;
            let mut content = Vec::new();
            entry.take(most).read_to_end(&mut content)?;
            OwnKind::File(content, mode)
        } else {
            OwnKind::Other
        };
        found.insert(OsString::from_vec(path).into(), kind);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_tar_says_of_files_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        // Longer than the field of a name in the header of an entry.
        let deep = folder.path().join("d".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        std::fs::write(deep.join("small"), "x").unwrap();
        std::fs::write(deep.join("large"), "0123456789").unwrap();
        let mut tar = Command::new("tar");
        let archive =
            capture(tar.args(["--create", "--absolute-names", "--file=-", "--"]).arg(&deep)).unwrap();
        let found = entries(&archive, 5).unwrap();
        assert_eq!(found.get(&deep), Some(&OwnKind::Folder));
        assert!(matches!(&found[&deep.join("small")], OwnKind::File(content, _) if content == b"x"));
        assert_eq!(found[&deep.join("large")], OwnKind::Other);
    }
}
