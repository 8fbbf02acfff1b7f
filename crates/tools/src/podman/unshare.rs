//! Files that belong to a user's subordinate ids: only podman's own user namespace may read them.

use super::Podman;
use crate::run::{ToolError, capture};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// What tar(1) writes before the name of an extended attribute.
const XATTR: &str = "SCHILY.xattr.";
/// Attributes that are left out: overlayfs keeps in them where a file comes from, as bytes that may contain the ends
/// of lines, which the format does not mark.
const ORIGINS: [&str; 2] = ["--xattrs-exclude=user.overlay.origin", "--xattrs-exclude=user.overlay.uuid"];

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// What it is.
    pub kind: OwnKind,
    /// Its permission bits.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its extended attributes: names and values.
    pub attributes: Vec<(String, Vec<u8>)>,
}

/// Kinds of what can be at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnKind {
    /// A plain file: its content.
    File(Vec<u8>),
    /// A folder.
    Folder,
    /// A symbolic link: where it leads.
    Link(PathBuf),
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
    /// `most` bytes of each file. The ids are those of the namespace.
    ///
    /// # Errors
    /// Podman's own failure or tar's, also that one of them is not there.
    pub fn unshare_read_all(
        &self,
        paths: &[PathBuf],
        most: u64,
    ) -> Result<BTreeMap<PathBuf, Own>, ToolError> {
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut tar = self.command(["unshare", "tar", "--create", "--absolute-names"]);
        tar.args(["--xattrs", "--xattrs-include=*"]).args(ORIGINS).args(["--file=-", "--"]).args(paths);
        let output = capture(&mut tar)?;
        entries(&output, most).map_err(|error| self.unexpected("unshare tar", &error))
    }

    /// Removes folders with all that is in them, as root of the user's namespace.
    ///
    /// # Errors
    /// Podman's own failure or rm's; then some of it is still there.
    pub fn unshare_remove(&self, paths: &[PathBuf]) -> Result<(), ToolError> {
        capture(self.command(["unshare", "rm", "-rf", "--"]).args(paths)).map(drop)
    }
}

fn entries(archive: &[u8], most: u64) -> io::Result<BTreeMap<PathBuf, Own>> {
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(archive).entries()? {
        let mut entry = entry?;
        let mut path = entry.path_bytes().into_owned();
        // Of a folder the name ends with a slash.
        while path.len() > 1 && path.last() == Some(&b'/') {
            path.pop();
        }
        let attributes = attributes(&mut entry)?;
        let header = entry.header();
        let (kind, mode) = (header.entry_type(), header.mode()? & 0o7777);
        let id = |id: u64| u32::try_from(id).map_err(io::Error::other);
        let (uid, gid) = (id(header.uid()?)?, id(header.gid()?)?);
        let kind = if kind.is_dir() {
            OwnKind::Folder
        } else if kind.is_symlink() {
            let target = entry.link_name_bytes().ok_or(io::ErrorKind::InvalidData)?;
            OwnKind::Link(OsString::from_vec(target.into_owned()).into())
        } else if kind.is_file() && entry.size() <= most {
            let mut content = Vec::new();
            entry.take(most).read_to_end(&mut content)?;
            OwnKind::File(content)
        } else {
            OwnKind::Other
        };
        found.insert(OsString::from_vec(path).into(), Own { kind, mode, uid, gid, attributes });
    }
    Ok(found)
}

/// The extended attributes; one that cannot be read right has a name that is none.
fn attributes(entry: &mut tar::Entry<'_, &[u8]>) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for extension in entry.pax_extensions()?.into_iter().flatten() {
        match extension {
            Ok(extension) => {
                let name = String::from_utf8_lossy(extension.key_bytes()).into_owned();
                if let Some(name) = name.strip_prefix(XATTR) {
                    found.push((name.to_owned(), extension.value_bytes().to_owned()));
                }
            }
            Err(_) => found.push(("?".to_owned(), Vec::new())),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn what_tar_says_of_what_is_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        // Longer than the field of a name in the header of an entry.
        let deep = folder.path().join("d".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        std::fs::write(deep.join("small"), "x").unwrap();
        std::fs::write(deep.join("large"), "0123456789").unwrap();
        symlink("../t".repeat(60), deep.join("link")).unwrap();
        let own = rustix::process::getuid().as_raw();
        let mut tar = Command::new("tar");
        tar.args(["--create", "--absolute-names", "--xattrs", "--xattrs-include=*"]).args(ORIGINS);
        let archive = capture(tar.args(["--file=-", "--"]).arg(&deep)).unwrap();
        let found = entries(&archive, 5).unwrap();
        assert_eq!((&found[&deep].kind, found[&deep].uid), (&OwnKind::Folder, own));
        assert!(matches!(&found[&deep.join("small")].kind, OwnKind::File(content) if content == b"x"));
        assert_eq!(found[&deep.join("large")].kind, OwnKind::Other);
        assert_eq!(found[&deep.join("link")].kind, OwnKind::Link("../t".repeat(60).into()));
        assert!(found.values().all(|own| own.attributes.is_empty()), "{found:?}");
    }

    #[test]
    fn attributes_are_told_or_said_to_be_odd() {
        let mut archive = tar::Builder::new(Vec::new());
        for value in [&b"y"[..], b"a\nb"] {
            archive.append_pax_extensions([("SCHILY.xattr.user.overlay.opaque", value)]).unwrap();
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(tar::EntryType::Directory);
            header.set_size(0);
            header.set_mode(0o40_755);
            let name = if value == b"y" { "/one/" } else { "/other/" };
            header.set_uid(1);
            header.set_gid(2);
            archive.append_data(&mut header, name.trim_start_matches('/'), io::empty()).unwrap();
        }
        let found = entries(&archive.into_inner().unwrap(), 5).unwrap();
        let one = &found[Path::new("one")];
        assert_eq!(one.attributes, [("user.overlay.opaque".to_owned(), b"y".to_vec())]);
        assert_eq!((one.mode, one.uid, one.gid), (0o755, 1, 2));
        assert!(found[Path::new("other")].attributes.iter().any(|(name, _)| name == "?"));
    }
}
