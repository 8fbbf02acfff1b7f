//! What a layer has at a path.

use std::path::{Component, Path, PathBuf};

/// A file, folder or link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where, from the root of the image: plain names only, as [`inside`] gives it.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Who may do what with it.
    pub meta: Meta,
}

/// Kinds of what can be put into a layer. There are neither devices nor pipes nor sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A plain file of this many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A symbolic link and where it leads; that is not looked at.
    Link(PathBuf),
    /// One more name of a file that was put before.
    SameAs(PathBuf),
}

/// Permissions, owner, time, attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meta {
    /// Permission bits, setuid, setgid and sticky among them.
    pub mode: u32,
    /// Owner inside.
    pub uid: u32,
    /// Group inside.
    pub gid: u32,
    /// Last change, seconds since 1970.
    pub mtime: u64,
    /// Extended attributes, sorted by name.
    pub attributes: Vec<(String, Vec<u8>)>,
}

/// A path as a name from the root of an image; nothing where it leads out, or is not plain. The root itself is empty.
#[must_use]
pub fn inside(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::CurDir | Component::RootDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        for (path, expected) in [
            ("a/b", Some("a/b")),
            ("/a//./b/", Some("a/b")),
            ("./", Some("")),
            ("..", None),
            ("a/../b", None),
            ("/../etc/passwd", None),
        ] {
            assert_eq!(inside(Path::new(path)), expected.map(PathBuf::from), "{path}");
        }
    }
}
