//! Everything that is read of podman's container while there is one.

use crate::PlannerError;
use crate::layers;
use flake_tools::podman::{Inspection, OwnKind, Podman};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The largest file of a container's own directory that goes into a plan, in bytes.
const FILE_MOST: u64 = 64 << 10;
/// The largest specification, in bytes; the default seccomp profile makes up most of the usual 11 KiB.
const SPECIFICATION_MOST: u64 = 16 << 20;

/// The files in which podman adds the user of a container that the image does not know, below its writable layer.
pub(crate) const ACCOUNTS: [&str; 2] = ["etc/group", "etc/passwd"];

/// What was read.
#[derive(Debug)]
pub(crate) struct Captured {
    /// The OCI runtime specification.
    pub(crate) specification: Value,
    /// What podman says of the container.
    pub(crate) container: Inspection,
    /// `/proc/PID/mountinfo` of its first process.
    pub(crate) mounts: Vec<u8>,
    /// The maps of user and group ids of podman's namespace for a user who is not root, as texts of the kernel.
    pub(crate) maps: Option<(String, String)>,
    /// What of the container's own directories is mounted, and what podman wrote into its writable layer.
    pub(crate) own: BTreeMap<PathBuf, OwnKind>,
    /// A volume that is not simply a folder that stays, in words.
    pub(crate) odd_volume: Option<String>,
}

impl Captured {
    /// Has podman make the container, reads everything, and has it removed.
    pub(crate) fn take(podman: &Podman, words: &[OsString], is_root: bool) -> Result<Self, PlannerError> {
        let specimen = podman.specimen(words)?;
        let container = specimen.inspect()?;
        let path = &container.specification;
        let text = if is_root { read_most(path, SPECIFICATION_MOST)? } else { podman.unshare_read(path)? };
        let specification: Value = serde_json::from_slice(&text)
            .map_err(|error| PlannerError::Unexpected { path: path.clone(), reason: error.to_string() })?;
        let process = PathBuf::from("/proc").join(container.state.pid.to_string());
        let mounts = read_most(&process.join("mountinfo"), SPECIFICATION_MOST)?;
        let maps = if is_root { None } else { Some(maps(podman, &specification, &process)?) };
        let mut sources = own_sources(&specification, &container.id);
        let upper = layers::upper(&mounts);
        let own = if is_root {
            look_at_all(sources, upper.as_deref())?
        } else {
            sources.extend(upper);
            podman.unshare_read_all(&sources, FILE_MOST)?
        };
        let odd_volume = odd_volume(podman, &container)?;
        Ok(Self { specification, container, mounts, maps, own, odd_volume })
    }
}

/// Whether a path is below one of the directories that podman keeps for a container: they have its id as a name,
/// and go with it.
pub(crate) fn is_own(path: &Path, id: &str) -> bool {
    !id.is_empty() && path.components().any(|part| part.as_os_str() == id)
}

/// A volume that goes with the container that it was made for, since it has no name, or that podman mounts while a
/// container uses it.
fn odd_volume(podman: &Podman, container: &Inspection) -> Result<Option<String>, PlannerError> {
    for volume in container.mounts.iter().flatten().filter(|volume| !volume.name.is_empty()) {
        let at = volume.destination.display();
        if volume.name.len() == 64 && volume.name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Some(format!("a volume without a name at {at}")));
        }
        if !podman.is_plain_volume(&volume.name)? {
            return Ok(Some(format!("the volume {} at {at}, which podman mounts", volume.name)));
        }
    }
    Ok(None)
}

/// What of the container's own directories the specification mounts.
fn own_sources(specification: &Value, id: &str) -> Vec<PathBuf> {
    let mounts = specification["mounts"].as_array().into_iter().flatten();
    let sources = mounts.filter_map(|mount| mount["source"].as_str()).map(PathBuf::from);
    let mut own: Vec<_> = sources.filter(|source| source.is_absolute() && is_own(source, id)).collect();
    own.sort();
    own.dedup();
    own
}

/// The maps of podman's own namespace. The container's process is in it, or in one within, where the kernel tells
/// the maps through to the host; then a process in podman's has to be asked.
fn maps(podman: &Podman, specification: &Value, process: &Path) -> Result<(String, String), PlannerError> {
    let has_inner = specification["linux"]["namespaces"]
        .as_array()
        .is_some_and(|namespaces| namespaces.iter().any(|namespace| namespace["type"] == "user"));
    let read = |name: &str| -> Result<String, PlannerError> {
        let bytes = if has_inner {
            podman.unshare_read(&Path::new("/proc/self").join(name))?
        } else {
            read_most(&process.join(name), FILE_MOST)?
        };
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok((read("uid_map")?, read("gid_map")?))
}

fn read_most(path: &Path, most: u64) -> Result<Vec<u8>, PlannerError> {
    let failed = |source| PlannerError::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}

/// What podman made for a container of root's, who can look at it without podman.
fn look_at_all(
    sources: Vec<PathBuf>,
    upper: Option<&Path>,
) -> Result<BTreeMap<PathBuf, OwnKind>, PlannerError> {
    let mut own = BTreeMap::new();
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    for path in sources {
        let kind = open(&path, flags, Mode::empty())
            .map_err(io::Error::from)
            .and_then(look)
            .map_err(|source| PlannerError::Read { path: path.clone(), source })?;
        own.insert(path, kind);
    }
    for (upper, file) in upper.into_iter().flat_map(|upper| ACCOUNTS.map(|file| (upper, file))) {
        // The folders in it are the image's.
        let confined = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let folder_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(upper, folder_flags, Mode::empty())
            .and_then(|upper| openat2(&upper, file, flags, Mode::empty(), confined));
        let path = upper.join(file);
        let kind = match opened {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
            opened => opened
                .map_err(io::Error::from)
                .and_then(look)
                .map_err(|source| PlannerError::Read { path: path.clone(), source })?,
        };
        own.insert(path, kind);
    }
    Ok(own)
}

fn look(file: OwnedFd) -> io::Result<OwnKind> {
    let stat = fstat(&file)?;
    let is_small = u64::try_from(stat.st_size).is_ok_and(|size| size <= FILE_MOST);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok(OwnKind::Folder),
        FileType::RegularFile if is_small => {
            let mut content = Vec::new();
            File::from(file).take(FILE_MOST).read_to_end(&mut content)?;
            Ok(OwnKind::File(content, stat.st_mode & 0o7777))
        }
        _ => Ok(OwnKind::Other),
    }
}
