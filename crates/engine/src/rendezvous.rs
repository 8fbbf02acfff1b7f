//! Listening sockets of this user's: on which a privileged launcher finds the caller's, and the agents of kept instances
//! their callers.

use rustix::fs::{AtFlags, CWD, FileType, Mode, mkdir, statat};
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The longest path that a socket's address holds, in bytes without the final NUL.
const PATH_MAX: usize = 107;

/// A listening socket.
#[derive(Debug)]
pub struct Rendezvous {
    /// The socket.
    pub listener: UnixListener,
    /// Where it is found.
    pub name: Name,
}

/// The name of a socket, which disappears with the value.
#[derive(Debug)]
pub struct Name {
    /// The path.
    pub path: PathBuf,
}

impl Rendezvous {
    /// In `runtime`, the user's runtime folder, or in a folder of the user's own: root's in `/run`, others' below
    /// `/tmp`.
    ///
    /// # Errors
    /// What the kernel says of the last folder that was tried.
    pub fn open(runtime: Option<&Path>) -> io::Result<Self> {
        let runtime = runtime.map(|folder| folder.join("flakes"));
        let fallback = match geteuid() {
            root if root.is_root() => PathBuf::from("/run/flakes"),
            user => PathBuf::from(format!("/tmp/flakes-{}", user.as_raw())),
        };
        let mut failure = io::Error::from(io::ErrorKind::NotFound);
        for folder in runtime.into_iter().chain([fallback]) {
            match Self::open_in(&folder) {
                Ok(rendezvous) => return Ok(rendezvous),
                Err(error) => {
                    failure = io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
                }
            }
        }
        Err(failure)
    }

    fn open_in(folder: &Path) -> io::Result<Self> {
        let mut random = [0_u8; 8];
        getrandom(&mut random, GetRandomFlags::empty())?;
        let name = format!("{:016x}", u64::from_ne_bytes(random));
        let path = folder.join(format!("{name}.sock"));
        let fresh = folder.join(format!("{name}.new"));
        if path.as_os_str().len() > PATH_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is too long for a socket"));
        }
        private_folder(folder)?;
        sweep(folder);
        // Under its name it already listens, so that nobody takes it for one of the dead.
        let listener = UnixListener::bind(&fresh)?;
        let mut name = Name { path: fresh };
        std::fs::rename(&name.path, &path)?;
        name.path = path;
        Ok(Self { listener, name })
    }
}

impl Name {
    /// Leaves the name where it is: somebody else listens there from now on.
    #[must_use]
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.path)
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Removes the sockets of launchers that were killed: nobody listens there.
fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.path().extension() == Some("sock".as_ref())) {
        let refused = UnixStream::connect(entry.path())
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if refused {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes a folder that only its owner can enter; one that is there has to be like that.
fn private_folder(folder: &Path) -> io::Result<()> {
    match mkdir(folder, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let stat = statat(CWD, folder, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_private = FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        && stat.st_uid == geteuid().as_raw()
        && stat.st_mode & 0o077 == 0;
    if is_private { Ok(()) } else { Err(io::Error::other("not a private folder of this user")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn folder_of(runtime: &Path) -> PathBuf {
        let rendezvous = Rendezvous::open(Some(runtime)).unwrap();
        rendezvous.name.path.parent().unwrap().to_owned()
    }

    #[test]
    fn the_socket_is_private_and_goes() {
        let runtime = tempfile::tempdir().unwrap();
        let rendezvous = Rendezvous::open(Some(runtime.path())).unwrap();
        let folder = runtime.path().join("flakes");
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(rendezvous.name.path.starts_with(&folder));
        drop(rendezvous);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn sockets_of_the_dead_are_swept() {
        let runtime = tempfile::tempdir().unwrap();
        let first = Rendezvous::open(Some(runtime.path())).unwrap();
        let living = Rendezvous::open(Some(runtime.path())).unwrap();
        let path = first.name.path.clone();
        // Killed: the listener is gone, the name is not.
        let Rendezvous { ref listener, .. } = first;
        rustix::net::shutdown(listener, rustix::net::Shutdown::Both).unwrap();
        std::mem::forget(first);
        let _third = Rendezvous::open(Some(runtime.path())).unwrap();
        assert!(living.name.path.exists() && !path.exists());
    }

    #[test]
    fn a_folder_open_to_others_or_too_deep_is_passed_over() {
        let runtime = tempfile::tempdir().unwrap();
        let folder = runtime.path().join("flakes");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert_ne!(folder_of(runtime.path()), folder);
        let deep = runtime.path().join("x".repeat(120));
        assert!(!folder_of(&deep).starts_with(&deep));
    }
}
