//! What podman and the runtime have written over the image's layers, as entries of a recipe.

use crate::captured::Captured;
use crate::error::Reason;
use crate::mountinfo;
use flake_plan::{Entry, EntryKind, IdMap, Layers, UserSpace};
use flake_tools::podman::{Own, OwnKind};
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The most entries of a recipe.
pub(crate) const MOST: usize = 256;
/// Attributes with which overlayfs finds out where something came from when it is mounted again, and labels, which
/// mean something only where the runner does not run.
const PASSED_OVER: [&str; 4] = ["origin", "impure", "uuid", "security.selinux"];
/// Says that nothing shows through from the layers below.
const OPAQUE: &str = "opaque";

/// The entries.
#[derive(Debug)]
pub(crate) struct Upper<'a> {
    entries: BTreeMap<PathBuf, Entry>,
    mounts: &'a [u8],
    layers: &'a Layers,
    /// Files can take the place of their mounts.
    takes_files: bool,
    /// What is mounted by each call, over what the root begins with.
    shared: &'a [PathBuf],
}

impl<'a> Upper<'a> {
    /// Reads what was found. `shared` is what calls mount; what cannot be written to keeps its mounts.
    pub(crate) fn new(
        captured: &'a Captured,
        layers: &'a Layers,
        user: &UserSpace,
        (is_read_only, shared): (bool, &'a [PathBuf]),
    ) -> Result<Self, Reason> {
        if captured.upper.len() > MOST {
            return Err(format!("more than {MOST} files that podman made").into());
        }
        let mut entries = BTreeMap::new();
        for (path, own) in &captured.upper {
            let is_in_folder = path.parent().is_none_or(|parent| {
                entries.get(parent).is_some_and(|entry: &Entry| entry.kind == EntryKind::Folder)
            });
            let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
            if !is_in_folder || !is_plain {
                return Err(odd("an entry in no folder", path));
            }
            entries.insert(path.clone(), entry(path, own, layers, user)?);
        }
        if entries.get(Path::new("")).is_none_or(|root| root.kind != EntryKind::Folder) {
            return Err("a root without a writable layer".into());
        }
        Ok(Self { entries, mounts: &captured.mounts, layers, takes_files: !is_read_only, shared })
    }

    /// Puts a file of podman's in the place where it is mounted. Says whether no mount is needed then.
    pub(crate) fn take(&mut self, source: &Path, own: &Own) -> bool {
        let OwnKind::File(content) = &own.kind else { return false };
        let Some(place) = mountinfo::place_of(self.mounts, source).filter(|_| self.takes_files) else {
            return false;
        };
        let is_covered = |shared: &PathBuf| {
            shared.strip_prefix("/").is_ok_and(|shared| place.starts_with(shared) && place != shared)
        };
        // Such a folder would be over the file, which is to be over the folder.
        if self.shared.iter().any(is_covered) {
            return false;
        }
        match self.entries.get_mut(&place) {
            Some(entry) if is_empty_file(entry) => {
                entry.kind = EntryKind::File { content: content.clone() };
                entry.mode = own.mode;
                true
            }
            _ => false,
        }
    }

    /// Whether there was nothing at an absolute path before the runtime made a folder there to mount over.
    pub(crate) fn is_new_folder(&self, path: &Path) -> bool {
        let path = path.strip_prefix("/").unwrap_or(path);
        let is_folder = self.entries.get(path).is_some_and(|entry| entry.kind == EntryKind::Folder);
        is_folder && !may_be_in(self.layers, path)
    }

    /// Leaves out the place of a mount that the recipe does not have.
    pub(crate) fn remove_place(&mut self, source: &Path) {
        let place = mountinfo::place_of(self.mounts, source);
        if let Some(place) = place.filter(|place| self.entries.get(place).is_some_and(is_empty_file)) {
            self.entries.remove(&place);
        }
    }

    /// Leaves out a file.
    pub(crate) fn remove_file(&mut self, path: &Path) {
        if self.file(path).is_some() {
            self.entries.remove(path);
        }
    }

    /// The content of a file.
    pub(crate) fn file(&self, path: &Path) -> Option<&[u8]> {
        match &self.entries.get(path)?.kind {
            EntryKind::File { content } => Some(content),
            _ => None,
        }
    }

    /// All of them, each folder before what is in it.
    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.entries.into_values().collect()
    }
}

/// As the runtime makes them for mounts.
fn is_empty_file(entry: &Entry) -> bool {
    matches!(&entry.kind, EntryKind::File { content } if content.is_empty())
}

fn entry(path: &Path, own: &Own, layers: &Layers, user: &UserSpace) -> Result<Entry, Reason> {
    for (name, value) in &own.attributes {
        let overlays =
            ["user.overlay.", "trusted.overlay."].iter().find_map(|start| name.strip_prefix(start));
        match overlays.unwrap_or(name) {
            name if PASSED_OVER.contains(&name) => {}
            OPAQUE if overlays.is_some() && value == b"y" => check_opaque(path, layers)?,
            _ => return Err(odd(&format!("the attribute {name}"), path)),
        }
    }
    let is_text = |path: &Path| path.to_str().is_some();
    let kind = match &own.kind {
        _ if !is_text(path) => return Err(odd("an odd name", path)),
        OwnKind::Folder => EntryKind::Folder,
        OwnKind::File(content) => EntryKind::File { content: content.clone() },
        OwnKind::Link(target) if is_text(target) => EntryKind::Link { target: target.clone() },
        OwnKind::Link(_) | OwnKind::Other => return Err(odd("a large or special file", path)),
    };
    let (uid, gid) = match user {
        UserSpace::Own { inner: Some((users, groups)), .. } => {
            (inside(users, own.uid), inside(groups, own.gid))
        }
        UserSpace::Host | UserSpace::Own { inner: None, .. } => (Some(own.uid), Some(own.gid)),
    };
    let (uid, gid) = uid.zip(gid).ok_or_else(|| odd("an unmapped owner", path))?;
    Ok(Entry { path: path.to_owned(), kind, mode: own.mode, uid, gid })
}

/// The id inside of one outside.
fn inside(maps: &[IdMap], id: u32) -> Option<u32> {
    maps.iter().find_map(|map| {
        let offset = id.checked_sub(map.outside).filter(|offset| *offset < map.count)?;
        map.inside.checked_add(offset)
    })
}

/// Of a folder that is new the kernel may say so; it matters where the layers have one there as well.
fn check_opaque(path: &Path, layers: &Layers) -> Result<(), Reason> {
    if may_be_in(layers, path) { Err(odd("a folder in the place of the image's", path)) } else { Ok(()) }
}

/// Whether a layer has something at a path, as far as this user can tell.
fn may_be_in(layers: &Layers, path: &Path) -> bool {
    let confined = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    layers.folders.iter().any(|layer| {
        let opened = open(layer, flags | OFlags::DIRECTORY, Mode::empty())
            .and_then(|layer| openat2(layer, path, flags | OFlags::NOFOLLOW, Mode::empty(), confined));
        !matches!(opened, Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
    })
}

fn odd(what: &str, path: &Path) -> Reason {
    Reason(format!("{what} that podman made at {}", Path::new("/").join(path).display()))
}

#[cfg(test)]
mod tests;
