//! Device files.

use crate::error::Reason;
use flake_plan::Device;
use oci_spec::runtime::{LinuxDevice, LinuxDeviceType};
use rustix::fs::{FileType, major, minor, stat};
use std::path::{Component, Path};

/// What every runtime makes (runtime-spec, config-linux.md, "Default Devices").
const ALWAYS: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The devices that every container has, and those of the specification. They are the host's own files, mounted, so
/// each has to be at the same path on the host.
pub(crate) fn devices(list: &[LinuxDevice]) -> Result<Vec<Device>, Reason> {
    let mut devices: Vec<_> = ALWAYS.iter().map(|path| device(path.as_ref(), path.as_ref())).collect();
    for listed in list {
        let path = listed.path();
        let shown = path.display();
        if !matches!(listed.typ(), LinuxDeviceType::C | LinuxDeviceType::U) || !is_below_dev(path) {
            return Err(format!("the device {shown}").into());
        }
        let found = stat(path).map_err(|_| format!("the device {shown}, which the host does not have"))?;
        let numbers = (i64::from(major(found.st_rdev)), i64::from(minor(found.st_rdev)));
        let is_same = FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
            && numbers == (listed.major(), listed.minor());
        // The file's owner and mode are the host's; podman copies them, unless an option says otherwise.
        let same_mode = listed.file_mode().is_none_or(|mode| mode & 0o7777 == found.st_mode & 0o7777);
        let same_owner = listed.uid().is_none_or(|uid| uid == found.st_uid)
            && listed.gid().is_none_or(|gid| gid == found.st_gid);
        if !is_same || !same_mode || !same_owner {
            return Err(format!("the device {shown}, which is another one than the host's").into());
        }
        devices.push(device(path, path));
    }
    Ok(devices)
}

/// A device file.
pub(crate) fn device(path: &Path, source: &Path) -> Device {
    Device { path: path.to_owned(), source: source.to_owned() }
}

/// Whether the host has a device file there that can be used when it is mounted. For root the rule of the control
/// group allows only those that are always there.
pub(crate) fn is_usable(path: &Path, is_rootful: bool) -> bool {
    stat(path).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice)
        && (!is_rootful || ALWAYS.iter().any(|always| path == Path::new(always)))
}

/// Whether a path is below `/dev`, without a way out.
pub(crate) fn is_below_dev(path: &Path) -> bool {
    path.starts_with("/dev")
        && path != Path::new("/dev")
        && path.components().all(|part| !matches!(part, Component::ParentDir))
}
