//! Everything that is read of podman's container while there is one.

use crate::PlannerError;
use crate::look;
use crate::upper;
use flake_schema::Source;
use flake_tools::podman::{Inspection, Own, Podman};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file of a container's own directory that goes into a plan, in bytes.
const FILE_MOST: u64 = 64 << 10;
/// The largest specification, in bytes; the default seccomp profile makes up most of the usual 11 KiB.
const SPECIFICATION_MOST: u64 = 16 << 20;
/// The folder with what is in a volume, within the volume's own.
const DATA: &str = "_data";

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
    /// What of the container's own directories is mounted.
    pub(crate) own: BTreeMap<PathBuf, Own>,
    /// What is in its writable layer, by paths relative to that. Not all of it where there is more than a recipe takes.
    pub(crate) upper: BTreeMap<PathBuf, Own>,
    /// A volume that is not simply a folder that stays, in words.
    pub(crate) odd_volume: Option<String>,
}

impl Captured {
    /// Has podman make the container, reads everything, and has it removed. With it come the folders of its volumes.
    pub(crate) fn take(
        podman: &Podman,
        words: &[OsString],
        is_root: bool,
    ) -> Result<(Self, Vec<Source>), PlannerError> {
        let specimen = podman.specimen(words)?;
        let container = specimen.inspect()?;
        let path = &container.specification;
        let text = if is_root { read_most(path, SPECIFICATION_MOST)? } else { podman.unshare_read(path)? };
        let specification: Value = serde_json::from_slice(&text)
            .map_err(|error| PlannerError::Unexpected { path: path.clone(), reason: error.to_string() })?;
        let process = PathBuf::from("/proc").join(container.state.pid.to_string());
        let mounts = read_most(&process.join("mountinfo"), SPECIFICATION_MOST)?;
        let maps = if is_root { None } else { Some(maps(podman, &specification, &process)?) };
        let sources = own_sources(&specification, &container.id);
        let upper = upper_folder(&container);
        let (own, upper) = if is_root {
            (look_at_all(sources)?, upper.map(look_into).transpose()?.unwrap_or_default())
        } else {
            let paths = sources.into_iter().chain(upper.map(Path::to_owned)).collect::<Vec<_>>();
            parted(podman.unshare_read_all(&paths, FILE_MOST)?, upper)
        };
        let odd_volume = odd_volume(podman, &container)?;
        // While the container has them, so that nobody can remove them.
        let volumes = volume_folders(&container);
        Ok((Self { specification, container, mounts, maps, own, upper, odd_volume }, volumes))
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

/// The folders that podman makes anew with their volumes. What is in a volume is in one within, so these stay as they
/// are.
fn volume_folders(container: &Inspection) -> Vec<Source> {
    let volumes = container.mounts.iter().flatten().filter(|volume| !volume.name.is_empty());
    volumes
        .filter_map(|volume| {
            let folder = volume.source.parent().filter(|_| volume.source.ends_with(DATA));
            Source::look_at(folder.unwrap_or(&volume.source)).ok()
        })
        .collect()
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

/// The folder of the writable layer.
fn upper_folder(container: &Inspection) -> Option<&Path> {
    let driver = &container.graph_driver;
    let data = driver.data.as_ref().filter(|_| driver.name == "overlay")?;
    Some(Path::new(&data.upper_dir)).filter(|folder| folder.is_absolute())
}

/// What is in the writable layer, apart from the rest.
fn parted(
    own: BTreeMap<PathBuf, Own>,
    upper: Option<&Path>,
) -> (BTreeMap<PathBuf, Own>, BTreeMap<PathBuf, Own>) {
    let (mut others, mut written) = (BTreeMap::new(), BTreeMap::new());
    for (path, own) in own {
        match upper.and_then(|upper| path.strip_prefix(upper).ok()) {
            Some(relative) => written.insert(relative.to_owned(), own),
            None => others.insert(path, own),
        };
    }
    (others, written)
}

/// What podman made for a container of root's, who can look at it without podman.
fn look_at_all(sources: Vec<PathBuf>) -> Result<BTreeMap<PathBuf, Own>, PlannerError> {
    let look = |path: PathBuf| match look::at(&path, FILE_MOST) {
        Ok(own) => Ok((path, own)),
        Err(source) => Err(PlannerError::Read { path, source }),
    };
    sources.into_iter().map(look).collect()
}

fn look_into(folder: &Path) -> Result<BTreeMap<PathBuf, Own>, PlannerError> {
    let failed = |source| PlannerError::Read { path: folder.to_owned(), source };
    look::tree(folder, FILE_MOST, upper::MOST).map_err(failed)
}
