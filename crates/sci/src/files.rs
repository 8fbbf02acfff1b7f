//! Single regular files, read and written for the launcher's side.

use crate::connection::Link;
use flake_sys::atomic::Draft;
use flake_sys::reason::reason;
use flake_wire::{DATA_MAX, Failure, FailureKind, Reply, WINDOW};
use rustix::fs::{FileType, Mode, OFlags};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The stream that a file's content has.
const CONTENT: u16 = 0;

/// What the agent keeps for the launcher, in a folder that no image has to have.
const OWN_FOLDER: &str = "/var/lib/sci";

/// A file on its way to the peer.
#[derive(Debug)]
pub(crate) struct Reading {
    path: PathBuf,
    file: File,
    credit: usize,
}

impl Reading {
    pub(crate) fn open(path: &[u8]) -> Result<Self, Failure> {
        let path = PathBuf::from(OsStr::from_bytes(path));
        // Non-blocking, so that a FIFO is refused instead of waited for.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let opened = rustix::fs::open(&path, flags, Mode::empty()).map_err(io::Error::from);
        let descriptor = opened.map_err(|error| failed("read", &path, &error))?;
        let kind = rustix::fs::fstat(&descriptor).map(|stat| FileType::from_raw_mode(stat.st_mode));
        if kind != Ok(FileType::RegularFile) {
            return Err(failed("read", &path, &io::Error::other("not a regular file")));
        }
        Ok(Self { path, file: descriptor.into(), credit: WINDOW as usize })
    }

    pub(crate) fn add_credit(&mut self, bytes: u32) {
        self.credit = (self.credit + bytes as usize).min(WINDOW as usize);
    }

    /// Sends as much as the peer takes; says when the file is through.
    pub(crate) fn pump(&mut self, link: &mut Link) -> Option<Result<(), Failure>> {
        let mut buffer = vec![0; DATA_MAX];
        while self.credit > 0 {
            let most = DATA_MAX.min(self.credit);
            match self.file.read(&mut buffer[..most]) {
                Ok(0) => {
                    link.say(&Reply::Eof { stream: CONTENT });
                    return Some(Ok(()));
                }
                Ok(length) => {
                    self.credit -= length;
                    link.send_data(CONTENT, &buffer[..length]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(failed("read", &self.path, &error))),
            }
        }
        None
    }
}

/// A file on its way from the peer. It appears under its name when it is complete, or never.
#[derive(Debug)]
pub(crate) struct Writing {
    path: PathBuf,
    draft: Draft,
}

impl Writing {
    pub(crate) fn create(path: &[u8], mode: u32) -> Result<Self, Failure> {
        let path = PathBuf::from(OsStr::from_bytes(path));
        if path.parent() == Some(Path::new(OWN_FOLDER)) {
            make_own_folder().map_err(|error| failed("write", &path, &error))?;
        }
        let draft = Draft::new(&path, mode & 0o7777).map_err(|error| failed("write", &path, &error))?;
        Ok(Self { path, draft })
    }

    pub(crate) fn write(&mut self, bytes: &[u8], link: &mut Link) -> Result<(), Failure> {
        self.draft.write_all(bytes).map_err(|error| failed("write", &self.path, &error))?;
        if let Ok(bytes) = u32::try_from(bytes.len()) {
            link.say(&Reply::Credit { stream: CONTENT, bytes });
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { path, draft } = self;
        draft.replace().map_err(|error| failed("write", &path, &error))
    }
}

/// Makes the agent's folder, which nobody else inside has to look into.
fn make_own_folder() -> io::Result<()> {
    let folder = Path::new(OWN_FOLDER);
    fs::create_dir_all(folder.parent().unwrap_or(folder))?;
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn failed(verb: &str, path: &Path, error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FailureKind::NotFound,
        _ => FailureKind::Other,
    };
    Failure { kind, message: format!("cannot {verb} {}: {}", path.display(), reason(error)) }
}
