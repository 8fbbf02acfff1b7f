//! Device files in `/dev`, each a mount of the host's own, and the links beside them (config-linux.md of the runtime
//! specification, "Default Devices").

use crate::error::{RunError, on};
use crate::filesystem;
use crate::mountpoint::{Kind, Links, find, find_or_make};
use flake_plan::Device;
use rustix::fs::{CWD, symlinkat};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

const LINKS: [(&str, &str); 6] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("core", "/proc/kcore"),
    ("ptmx", "pts/ptmx"),
];

/// Puts device files into the root.
pub(crate) fn add(root: BorrowedFd<'_>, devices: &[Device]) -> Result<(), RunError> {
    for device in devices {
        let mount = filesystem::copy(CWD, &device.source, false).map_err(on("share", &device.source))?;
        let place = find_or_make(root, &device.path, Kind::File, Links::Followed)
            .map_err(on("make a place for", &device.path))?;
        filesystem::attach(&mount, place.as_fd()).map_err(on("mount", &device.path))?;
    }
    let Ok(folder) = find(root, Path::new("/dev"), Links::Refused) else { return Ok(()) };
    for (name, target) in LINKS {
        match symlinkat(target, &folder, name) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(on("make the link", &Path::new("/dev").join(name))(error)),
        }
    }
    Ok(())
}
