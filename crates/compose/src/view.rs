//! What the layers of an image come to, without mounting them: one above the other, as overlayfs would show them.
//!
//! The layers are folders of a store (containers/storage, driver overlay): a removed name is a device 0:0, a folder that
//! hides those below it has the attribute `overlay.opaque`; where devices cannot be made, `.wh.` names stand for both.
//! Images are not trusted: no link in a layer is ever followed by the kernel.

mod folder;

use crate::entry::Meta;
use crate::ids::Ids;
use folder::{Child, Folder};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// Links on the way to one name, as the kernel allows.
const LINKS: usize = 40;

/// The layers of an image, seen as one.
#[derive(Debug)]
pub struct View {
    root: Folder,
    ids: Ids,
}

/// Where a name leads in an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name from the root, free of links.
    pub path: PathBuf,
    /// What is there.
    pub found: Found,
}

/// What is at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing; perhaps not even the folder above it.
    Nothing,
    /// A folder.
    Folder(Meta),
    /// A link, where it was not to be followed.
    Link,
    /// A file or something else.
    Other,
}

impl View {
    /// Looks at layers, the topmost first.
    ///
    /// # Errors
    /// One of them cannot be opened.
    pub fn new<'a>(layers: impl IntoIterator<Item = &'a Path>, ids: Ids) -> io::Result<Self> {
        Ok(Self { root: Folder::root(layers)?, ids })
    }

    /// Where a name leads. Links above it are followed inside the image, and one at its end with `follow`.
    ///
    /// # Errors
    /// It goes through something that is no folder, through too many links, or where this process may not look.
    pub fn place(&self, path: &Path, follow: bool) -> io::Result<Place> {
        let mut todo: Vec<OsString> = parts(path);
        let mut at: Vec<(OsString, Folder)> = Vec::new();
        let mut links = 0;
        while let Some(name) = todo.pop() {
            if name == ".." {
                at.pop();
                continue;
            }
            let above = at.last().map_or(&self.root, |(_, folder)| folder);
            let is_last = todo.is_empty();
            match above.child(&name)? {
                Child::Folder(folder) => at.push((name, folder)),
                Child::Nothing => {
                    let rest = std::iter::once(name).chain(todo.into_iter().rev());
                    return Ok(Place { path: missing(&at, rest), found: Found::Nothing });
                }
                Child::Link(target) if follow || !is_last => {
                    links += 1;
                    if links > LINKS {
                        return Err(rustix::io::Errno::LOOP.into());
                    }
                    if target.as_bytes().first() == Some(&b'/') {
                        at.clear();
                    }
                    todo.extend(parts(Path::new(&target)));
                }
                Child::Link(_) => return Ok(Place { path: joined(&at).join(name), found: Found::Link }),
                Child::Other if is_last => {
                    return Ok(Place { path: joined(&at).join(name), found: Found::Other });
                }
                Child::Other => return Err(io::ErrorKind::NotADirectory.into()),
            }
        }
        let folder = at.last().map_or(&self.root, |(_, folder)| folder);
        Ok(Place { path: joined(&at), found: Found::Folder(folder.meta(&self.ids)?) })
    }

    /// Whether a name leads to something.
    ///
    /// # Errors
    /// As [`View::place`].
    pub fn has(&self, path: &Path) -> io::Result<bool> {
        match self.place(path, true) {
            Ok(place) => Ok(place.found != Found::Nothing),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The names of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(name).collect()
}

fn joined(at: &[(OsString, Folder)]) -> PathBuf {
    at.iter().map(|(name, _)| name).collect()
}

/// A name below folders, the rest of which is not there.
fn missing(at: &[(OsString, Folder)], rest: impl Iterator<Item = OsString>) -> PathBuf {
    let mut path = joined(at);
    for name in rest {
        if name == ".." {
            path.pop();
        } else {
            path.push(name);
        }
    }
    path
}

/// Bytes as a name.
fn name(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// What stands beside a name, where it was removed.
fn mark(of: &OsStr) -> OsString {
    name([b".wh.", of.as_bytes()].concat())
}

#[cfg(test)]
mod tests;
