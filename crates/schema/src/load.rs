//! Reads files: the only input and output of this crate.

use crate::document::{Document, MOST_BYTES, place, too_large};
use crate::error::{LoadError, show_path};
use crate::flake::FlakeFile;
use crate::name::FlakeName;
use crate::resolve::Flake;
use crate::settings::{Settings, SettingsFile};
use crate::source::{Identity, Source};
use rustix::fs::{FileType, Mode, OFlags, fstat, lstat, open, stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Most files in a NAME.d directory.
const MOST_LAYERS: usize = 256;

/// A flake and what it was read from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name, from the file's.
    pub name: FlakeName,
    /// As written, all layers merged.
    pub file: FlakeFile,
    /// What it means.
    pub flake: Flake,
    /// NAME.yaml, the directory NAME.d (its state changes when files come or go), and each file read from it.
    pub sources: Vec<Source>,
}

/// Settings and what they were read from.
#[derive(Clone, Debug)]
pub struct LoadedSettings {
    /// As written, all files merged.
    pub file: SettingsFile,
    /// What they mean.
    pub settings: Settings,
    /// Each path that was asked for, also those that were not there.
    pub sources: Vec<Source>,
}

/// Loads `NAME.yaml` and the layers `NAME.d/*.yaml`, `*.yml` beside it, in the order of their names.
///
/// Hidden files and everything that is not a regular file are passed over in NAME.d. Every file is parsed
/// strictly on its own, the merged whole is checked; nothing is returned unless all of it is right.
pub fn load_flake(path: &Path) -> Result<Loaded, LoadError> {
    let name = path
        .file_name()
        .map(Path::new)
        .and_then(|name| name.to_str()?.strip_suffix(".yaml"))
        .ok_or_else(|| unreadable(path, "the name of a flake file ends in .yaml"))?;
    let name: FlakeName =
        name.parse().map_err(|error: crate::WordError| unreadable(path, &error.to_string()))?;

    let (bytes, source) = read(path)?;
    let mut sources = vec![source];
    let main = Document::parse(&show_path(path), &bytes)?;
    main.must_say_something()?;
    let mut file: FlakeFile = main.read(FlakeFile::reference)?;
    let mut documents = vec![main];

    let dir = path.with_file_name(name.dir_name());
    let (dir_source, layers) = layers(&dir)?;
    sources.push(dir_source);
    for path in layers {
        let (bytes, source) = read(&path)?;
        let document = Document::parse(&show_path(&path), &bytes)?;
        file.merge(document.read(FlakeFile::reference)?);
        documents.push(document);
        sources.push(source);
    }
    let flake = file.resolve().map_err(|problems| place(&documents, &problems))?;
    Ok(Loaded { name, file, flake, sources })
}

/// Loads settings; each file lies above those before it, files that do not exist say nothing.
pub fn load_settings<P: AsRef<Path>>(paths: &[P]) -> Result<LoadedSettings, LoadError> {
    let mut file = SettingsFile::default();
    let mut sources = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        match read(path) {
            Ok((bytes, source)) => {
                file.merge(Document::parse(&show_path(path), &bytes)?.read(SettingsFile::reference)?);
                sources.push(source);
            }
            Err(error) if error.is_missing() => {
                sources.push(Source { path: path.to_owned(), identity: None });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(LoadedSettings { settings: file.clone().into(), file, sources })
}

impl Source {
    /// A file or directory as it is now.
    ///
    /// # Errors
    /// What the kernel says, except that there is none.
    pub fn look_at(path: &Path) -> io::Result<Self> {
        let identity = match stat(path) {
            Ok(stat) => Some(Identity::from(&stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { path: path.to_owned(), identity })
    }

    /// True when the path still leads to the same state. One `stat`.
    pub fn is_unchanged(&self) -> io::Result<bool> {
        Ok(Self::look_at(&self.path)?.identity == self.identity)
    }
}

fn unreadable(path: &Path, reason: &str) -> LoadError {
    LoadError::Unreadable { path: path.to_owned(), reason: reason.to_owned(), kind: io::ErrorKind::Other }
}

fn failed(path: &Path, error: Errno) -> LoadError {
    let error = io::Error::from(error);
    let (reason, kind) = match error.kind() {
        io::ErrorKind::NotFound if lstat(path).is_ok() => {
            ("a link that leads nowhere".to_owned(), io::ErrorKind::Other)
        }
        io::ErrorKind::NotFound => ("there is no such file".to_owned(), io::ErrorKind::NotFound),
        io::ErrorKind::NotADirectory => ("there is no such file".to_owned(), io::ErrorKind::NotFound),
        io::ErrorKind::PermissionDenied => ("not readable for you".to_owned(), error.kind()),
        kind => (error.to_string(), kind),
    };
    LoadError::Unreadable { path: path.to_owned(), reason, kind }
}

/// The bytes of a regular file, and its state just before they were read.
fn read(path: &Path) -> Result<(Vec<u8>, Source), LoadError> {
    // non-blocking, so that a FIFO does not hang
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = open(path, flags, Mode::empty()).map_err(|error| failed(path, error))?;
    let stat = fstat(&fd).map_err(|error| failed(path, error))?;
    let identity = Identity::from(&stat);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(unreadable(path, "a directory, not a file")),
        _ => return Err(unreadable(path, "not a regular file")),
    }
    let limit = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
    if identity.size > limit {
        return Err(unreadable(path, &too_large()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(identity.size).unwrap_or(0) + 1);
    let file = std::fs::File::from(fd);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error.to_string()))?;
    if bytes.len() > MOST_BYTES {
        return Err(unreadable(path, &too_large()));
    }
    Ok((bytes, Source { path: path.to_owned(), identity: Some(identity) }))
}

/// The files of a NAME.d directory, in the order of their names.
fn layers(dir: &Path) -> Result<(Source, Vec<PathBuf>), LoadError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let fd = match open(dir, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT) if lstat(dir).is_err() => {
            return Ok((Source { path: dir.to_owned(), identity: None }, Vec::new()));
        }
        Err(Errno::NOTDIR) => return Err(unreadable(dir, "not a directory")),
        Err(error) => return Err(failed(dir, error)),
    };
    let own = fstat(&fd).map_err(|error| failed(dir, error))?;
    let mut paths = Vec::new();
    let mut entries = rustix::fs::Dir::read_from(&fd).map_err(|error| failed(dir, error))?;
    while let Some(entry) = entries.read() {
        let entry = entry.map_err(|error| failed(dir, error))?;
        let name = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(entry.file_name().to_bytes());
        if !is_layer_name(name) {
            continue;
        }
        let path = dir.join(name);
        let regular = match entry.file_type() {
            FileType::RegularFile => true,
            FileType::Symlink | FileType::Unknown => match stat(&path) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
                Err(error) => return Err(failed(&path, error)),
            },
            _ => false,
        };
        if regular {
            paths.push(path);
        }
        if paths.len() > MOST_LAYERS {
            return Err(unreadable(dir, &format!("more than {MOST_LAYERS} files in it")));
        }
    }
    paths.sort();
    Ok((Source { path: dir.to_owned(), identity: Some(Identity::from(&own)) }, paths))
}

fn is_layer_name(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml"))
}
