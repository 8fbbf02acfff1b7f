//! One layer, written as a plain tar whose digest is known at its end.
//!
//! What it has lies where the image's own links lead, so that `/lib/x` goes to `/usr/lib/x` where `/lib` is a link. The
//! folders above a name come with it as the image has them: an engine would make them anew, with other permissions.

use crate::entry::{Entry, Kind, Meta};
use crate::view::{Found, View};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// The most entries of a layer.
const ENTRIES: usize = 1 << 20;
/// The most bytes of content of a layer.
const BYTES: u64 = 64 << 30;
/// How a name begins that means a removed one.
const REMOVED: &[u8] = b".wh.";
/// How tar names an extended attribute.
const ATTRIBUTE: &str = "SCHILY.xattr.";

/// A layer that is being written.
#[expect(missing_debug_implementations, reason = "the writer of tar has none")]
pub struct Layer<'a> {
    view: &'a View,
    tar: Builder<Hashed>,
    /// What was put, and whether it is a folder.
    put: BTreeMap<PathBuf, bool>,
    bytes: u64,
}

/// A layer that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its digest, `sha256:...`.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
}

/// Why something cannot be put into a layer. Says where it was to go, not where it came from.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// Its name would remove something.
    #[error("/{}: names that begin with .wh. remove files of an image", .0.display())]
    Removes(PathBuf),
    /// It would be put where a link leads that came with it.
    #[error("/{}: goes through /{}, which is no folder", path.display(), through.display())]
    Through {
        /// Where it was to go.
        path: PathBuf,
        /// What is in the way.
        through: PathBuf,
    },
    /// It is to be the same as something that is not there.
    #[error("/{}: is the same as /{}, which did not come before it", path.display(), same.display())]
    SameAsNothing {
        /// Where it was to go.
        path: PathBuf,
        /// What it is to be the same as.
        same: PathBuf,
    },
    /// There is no end of it.
    #[error("more than {ENTRIES} entries or {} GiB", BYTES >> 30)]
    TooMuch,
    /// It cannot be read, or the layer not be written.
    #[error("/{}: {}", path.display(), flake_sys::reason::reason(source))]
    Io {
        /// Where it was to go.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl<'a> Layer<'a> {
    /// Begins a layer above an image, in a file.
    #[must_use]
    pub fn new(view: &'a View, file: File) -> Self {
        let hashed = Hashed { file: BufWriter::new(file), hash: Sha256::new(), size: 0 };
        Self { view, tar: Builder::new(hashed), put: BTreeMap::new(), bytes: 0 }
    }

    /// Whether nothing was put.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.put.is_empty()
    }

    /// Puts something; `content` is that of a file. A folder that the image has is left as it is.
    ///
    /// # Errors
    /// [`LayerError`].
    pub fn put(&mut self, entry: &Entry, content: &mut dyn Read) -> Result<(), LayerError> {
        if entry.path.iter().any(|name| name.as_bytes().starts_with(REMOVED)) {
            return Err(LayerError::Removes(entry.path.clone()));
        }
        let failed = |source| LayerError::Io { path: entry.path.clone(), source };
        let place = self.view.place(&entry.path, entry.kind == Kind::Folder).map_err(failed)?;
        if place.path.as_os_str().is_empty() {
            return Ok(());
        }
        self.put_above(&place.path, &entry.path, entry.meta.mtime)?;
        if entry.kind == Kind::Folder
            && (self.put.get(&place.path) == Some(&true) || matches!(place.found, Found::Folder(_)))
        {
            return Ok(());
        }
        if self.put.get(&place.path) == Some(&true) {
            // What is in it would come to lie in what is no folder.
            return Err(LayerError::Through { path: entry.path.clone(), through: place.path });
        }
        let kind = match &entry.kind {
            Kind::SameAs(same) => {
                let there = self.view.place(same, false).map_err(failed)?.path;
                if self.put.get(&there) != Some(&false) {
                    return Err(LayerError::SameAsNothing { path: entry.path.clone(), same: same.clone() });
                }
                Kind::SameAs(there)
            }
            kind => kind.clone(),
        };
        self.write(&place.path, &kind, &entry.meta, content)
    }

    /// The folders above a name that were not put yet.
    fn put_above(&mut self, path: &Path, asked: &Path, mtime: u64) -> Result<(), LayerError> {
        let above: Vec<&Path> =
            path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        for folder in above.into_iter().rev() {
            match self.put.get(folder) {
                Some(true) => continue,
                Some(false) => {
                    return Err(LayerError::Through { path: asked.to_owned(), through: folder.to_owned() });
                }
                None => {}
            }
            let failed = |source| LayerError::Io { path: folder.to_owned(), source };
            let meta = match self.view.place(folder, false).map_err(failed)?.found {
                Found::Folder(meta) => meta,
                Found::Nothing => Meta { mode: 0o755, mtime, ..Meta::default() },
                Found::Link | Found::Other => {
                    return Err(LayerError::Through { path: asked.to_owned(), through: folder.to_owned() });
                }
            };
            self.write(folder, &Kind::Folder, &meta, &mut io::empty())?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        path: &Path,
        kind: &Kind,
        meta: &Meta,
        content: &mut dyn Read,
    ) -> Result<(), LayerError> {
        let failed = |source| LayerError::Io { path: path.to_owned(), source };
        let size = if let Kind::File(size) = kind { *size } else { 0 };
        self.bytes = self.bytes.saturating_add(size);
        if self.put.len() >= ENTRIES || self.bytes > BYTES {
            return Err(LayerError::TooMuch);
        }
        self.write_attributes(meta).map_err(failed)?;
        let mut header = header(meta, size);
        match kind {
            Kind::File(_) => {
                header.set_entry_type(EntryType::Regular);
                self.tar.append_data(&mut header, path, Exact { content, left: size }).map_err(failed)?;
            }
            Kind::Folder => {
                header.set_entry_type(EntryType::Directory);
                self.tar.append_data(&mut header, path, io::empty()).map_err(failed)?;
            }
            Kind::Link(target) => {
                header.set_entry_type(EntryType::Symlink);
                self.tar.append_link(&mut header, path, target).map_err(failed)?;
            }
            Kind::SameAs(same) => {
                header.set_entry_type(EntryType::Link);
                self.tar.append_link(&mut header, path, same).map_err(failed)?;
            }
        }
        self.put.insert(path.to_owned(), *kind == Kind::Folder);
        Ok(())
    }

    fn write_attributes(&mut self, meta: &Meta) -> io::Result<()> {
        if meta.attributes.is_empty() {
            return Ok(());
        }
        let named: Vec<_> =
            meta.attributes.iter().map(|(name, value)| (format!("{ATTRIBUTE}{name}"), value)).collect();
        self.tar.append_pax_extensions(named.iter().map(|(name, value)| (name.as_str(), value.as_slice())))
    }

    /// Ends the layer.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<Written> {
        let Hashed { mut file, hash, size } = self.tar.into_inner()?;
        file.flush()?;
        Ok(Written { digest: format!("sha256:{}", hex(&hash.finalize())), size })
    }
}

fn header(meta: &Meta, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_mode(meta.mode & 0o7777);
    header.set_uid(meta.uid.into());
    header.set_gid(meta.gid.into());
    header.set_mtime(meta.mtime);
    header.set_size(size);
    header
}

/// A digest in the usual letters.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// As many bytes as were announced: a file that grows or shrinks meanwhile must not shift what comes behind it.
struct Exact<'a> {
    content: &'a mut dyn Read,
    left: u64,
}

impl Read for Exact<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let length = self.content.read(&mut buffer[..most])?;
        if length == 0 {
            return Err(io::Error::other("it has become shorter meanwhile"));
        }
        self.left -= u64::try_from(length).unwrap_or(0);
        Ok(length)
    }
}

/// A file, and the digest of what goes into it.
struct Hashed {
    file: BufWriter<File>,
    hash: Sha256,
    size: u64,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.file.write(bytes)?;
        self.hash.update(&bytes[..length]);
        self.size += u64::try_from(length).unwrap_or(0);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests;
