//! A folder of an image: the folders of that name in several layers.

use super::{mark, name};
use crate::entry::Meta;
use crate::ids::Ids;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, getxattr, open, openat, readlinkat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// What a folder has that hides those below it; only root can see the first.
const OPAQUE: [&str; 2] = ["trusted.overlay.opaque", "user.overlay.opaque"];
/// The same where there are no attributes.
const OPAQUE_MARK: &str = ".wh..wh..opq";

/// The folders of one name, the topmost first.
#[derive(Debug)]
pub(super) struct Folder(Vec<OwnedFd>);

/// What a folder has under a name.
pub(super) enum Child {
    Nothing,
    Folder(Folder),
    Link(OsString),
    Other,
}

impl Folder {
    pub(super) fn root<'a>(layers: impl IntoIterator<Item = &'a Path>) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut all = Vec::new();
        for layer in layers {
            all.push(open(layer, flags, Mode::empty())?);
        }
        Ok(Self(all))
    }

    pub(super) fn child(&self, of: &OsStr) -> io::Result<Child> {
        let mut folders = Vec::new();
        for layer in &self.0 {
            let found = match statat(layer, of, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) if is_there(layer, &mark(of))? => break,
                Err(Errno::NOENT) => continue,
                found => found?,
            };
            match FileType::from_raw_mode(found.st_mode) {
                FileType::CharacterDevice if found.st_rdev == 0 => break,
                FileType::Directory => {
                    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let folder = openat(layer, of, flags, Mode::empty())?;
                    let hides = hides(&folder)?;
                    folders.push(folder);
                    if hides {
                        break;
                    }
                }
                // It ends what folders there are above it.
                _ if !folders.is_empty() => break,
                FileType::Symlink => {
                    return Ok(Child::Link(name(readlinkat(layer, of, Vec::new())?.into_bytes())));
                }
                _ => return Ok(Child::Other),
            }
        }
        Ok(if folders.is_empty() { Child::Nothing } else { Child::Folder(Self(folders)) })
    }

    /// Permissions, owner and time, which are those of the topmost.
    pub(super) fn meta(&self, ids: &Ids) -> io::Result<Meta> {
        let Some(top) = self.0.first() else { return Ok(Meta { mode: 0o755, ..Meta::default() }) };
        let Stat { st_mode, st_uid, st_gid, st_mtime, .. } = fstat(top)?;
        let unknown = |id| io::Error::other(format!("id {id} of the host has none inside"));
        Ok(Meta {
            mode: st_mode & 0o7777,
            uid: ids.users.inside(st_uid).ok_or_else(|| unknown(st_uid))?,
            gid: ids.groups.inside(st_gid).ok_or_else(|| unknown(st_gid))?,
            mtime: u64::try_from(st_mtime).unwrap_or(0),
            attributes: Vec::new(),
        })
    }
}

fn is_there(layer: &OwnedFd, of: &OsStr) -> io::Result<bool> {
    match statat(layer, of, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT | Errno::NAMETOOLONG) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn hides(folder: &OwnedFd) -> io::Result<bool> {
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let mut value = [0; 8];
    let is_marked =
        |attribute: &str| matches!(getxattr(&*path, attribute, &mut value[..]), Ok(1)) && value[0] == b'y';
    Ok(OPAQUE.into_iter().any(is_marked) || is_there(folder, OPAQUE_MARK.as_ref())?)
}
