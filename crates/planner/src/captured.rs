//! Everything that is read of podman's container while there is one.

use crate::PlannerError;
use crate::layers;
use flake_tools::podman::{Inspection, OwnKind, Podman};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
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
            sources.extend(upper.iter().flat_map(|upper| ACCOUNTS.map(|file| upper.join(file))));
            let mut own = BTreeMap::new();
            for path in sources {
                own.extend(look(&path)?.map(|kind| (path, kind)));
            }
            own
        } else {
            sources.extend(upper);
            podman.unshare_read_all(&sources, FILE_MOST)?
        };
        Ok(Self { specification, container, mounts, maps, own })
    }
}

/// Whether a path is below one of the directories that podman keeps for a container: they have its id as a name,
/// and go with it.
pub(crate) fn is_own(path: &Path, id: &str) -> bool {
    !id.is_empty() && path.components().any(|part| part.as_os_str() == id)
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

/// What is at a path that root can look at itself, if anything is.
fn look(path: &Path) -> Result<Option<OwnKind>, PlannerError> {
    let found = || -> io::Result<OwnKind> {
        let metadata = fs::symlink_metadata(path)?;
        if metadata.is_dir() {
            return Ok(OwnKind::Folder);
        }
        if !metadata.is_file() {
            return Ok(OwnKind::Other);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = open(path, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        let is_small = u64::try_from(stat.st_size).is_ok_and(|size| size <= FILE_MOST);
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !is_small {
            return Ok(OwnKind::Other);
        }
        let mut content = Vec::new();
        File::from(file).take(FILE_MOST).read_to_end(&mut content)?;
        Ok(OwnKind::File(content, stat.st_mode & 0o7777))
    };
    match found() {
        Ok(kind) => Ok(Some(kind)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PlannerError::Read { path: path.to_owned(), source }),
    }
}
