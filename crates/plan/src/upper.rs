//! What podman and the OCI runtime have written over an image's layers before a container's process starts: places
//! for mounts, files such as `/etc/hosts`, links such as `/etc/mtab`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Something in the writable layer that a root begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Where, relative to the root, through folders only. The path of the root itself is empty.
    pub path: PathBuf,
    /// What.
    pub kind: EntryKind,
    /// The permission bits; a link has none of its own.
    pub mode: u32,
    /// The owner's id, as inside.
    pub uid: u32,
    /// The group's id, as inside.
    pub gid: u32,
}

/// What an [`Entry`] is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A file.
    File {
        /// Its content.
        #[serde(with = "serde_bytes")]
        content: Vec<u8>,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, as it is written.
        target: PathBuf,
    },
}
