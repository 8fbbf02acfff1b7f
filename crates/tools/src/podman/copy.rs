//! Files into and out of a container, whether it runs or not.
//!
//! Podman gives what comes in to the user that the container was made with. Where the application is somebody else, the
//! files go as an archive whose owners are ids inside: without `--archive` podman takes them from there.

mod archive;

use super::Podman;
use crate::run::{ToolError, capture, feed, show};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// What podman says of a path into which no archive can be unpacked, and then of an archive with nothing in it.
const NO_FOLDER: &str = "destination must be a directory";
const NO_ARCHIVE: &str = "source must be a (compressed) tar archive";

/// The ids of a user inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl Podman {
    /// Copies a file, or a folder with all that is in it, out of a container. It belongs to whoever asks.
    ///
    /// # Errors
    /// Podman's own failure, also that there is no such file.
    pub fn copy_out(&self, container: &str, path: &OsStr, to: &Path) -> Result<(), ToolError> {
        capture(self.command(["cp", "--"]).arg(inside(container, path)).arg(to)).map(drop)
    }

    /// Writes a file or folder of a container to standard output, as a tar archive.
    ///
    /// # Streams
    /// Podman's output and error are this process' own.
    ///
    /// # Errors
    /// Podman could not be run; its status is returned as it is.
    pub fn archive_out(&self, container: &str, path: &OsStr) -> Result<ExitStatus, ToolError> {
        show(self.command(["cp", "--"]).arg(inside(container, path)).arg("-"))
    }

    /// Copies a file, or a folder with all that is in it, into a container: into the folder `path`, or as `path` where
    /// there is no such folder. It belongs to `owner`, else to the container's own user.
    ///
    /// # Errors
    /// Podman's own failure, also that there is no folder that it could go to; something on the host cannot be read.
    pub fn copy_in(
        &self,
        container: &str,
        from: &Path,
        path: &OsStr,
        owner: Option<Owner>,
    ) -> Result<(), ToolError> {
        let unreadable = |source| ToolError::File { file: from.display().to_string(), source };
        fs::symlink_metadata(from).map_err(unreadable)?;
        let Some(owner) = owner else {
            return capture(self.command(["cp", "--"]).arg(from).arg(inside(container, path))).map(drop);
        };
        let (folder, name) = self.place(container, from, path)?;
        let source = from.to_owned();
        self.unpack(container, &folder, true, move |into| archive::pack(&source, &name, owner, into))
    }

    /// Unpacks a tar archive from standard input into a folder of a container. What is in it belongs to `owner`, else
    /// to the container's own user.
    ///
    /// # Errors
    /// Podman's own failure, also that there is no such folder; standard input is no archive.
    pub fn archive_in(&self, container: &str, path: &OsStr, owner: Option<Owner>) -> Result<(), ToolError> {
        self.unpack(container, path, owner.is_some(), move |into| match owner {
            Some(owner) => archive::change(io::stdin(), owner, into),
            None => io::copy(&mut io::stdin(), into).map(drop),
        })
    }

    /// The folder that something goes to, and its name there.
    fn place(&self, container: &str, from: &Path, path: &OsStr) -> Result<(OsString, PathBuf), ToolError> {
        if self.is_folder(container, path)? {
            let name = match from.as_os_str().as_bytes() {
                // Only what is in it, as cp(1) has it.
                [b'.'] | [.., b'/', b'.'] => OsStr::new("."),
                _ => from.file_name().unwrap_or(OsStr::new(".")),
            };
            return Ok((path.to_owned(), name.into()));
        }
        let target = Path::new(path);
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        // A name with a slash at its end has to be a folder's.
        match target.file_name().filter(|_| !path.as_bytes().ends_with(b"/")) {
            Some(name) => Ok((folder.unwrap_or(Path::new("/")).into(), name.into())),
            None => Ok((path.to_owned(), ".".into())),
        }
    }

    /// Asks by an archive that changes nothing.
    fn is_folder(&self, container: &str, path: &OsStr) -> Result<bool, ToolError> {
        match self.unpack(container, path, true, archive::nothing) {
            Ok(()) => Ok(true),
            Err(error) if error.said().contains(NO_ARCHIVE) => Ok(true),
            Err(error) if error.said().contains(NO_FOLDER) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn unpack(
        &self,
        container: &str,
        folder: &OsStr,
        with_owners: bool,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> Result<(), ToolError> {
        let mut command = self.command(["cp"]);
        command.args(with_owners.then_some("--archive=false"));
        feed(command.args(["--", "-"]).arg(inside(container, folder)), write)
    }
}

fn inside(container: &str, path: &OsStr) -> OsString {
    let mut word = OsString::from(container);
    word.push(":");
    word.push(path);
    word
}
