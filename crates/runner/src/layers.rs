//! The root out of an image's layers: overlayfs over them, with memory or a folder on disk for what is written
//! (kernel.org/doc/html/latest/filesystems/overlayfs.html).

use crate::error::{RunError, on, system};
use crate::filesystem;
use crate::scratch::Scratch;
use crate::upper;
use flake_plan::{Entry, Layers, MountFlags};
use flake_sys::kernel::is_at_least;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, open, openat, stat, statat};
use rustix::io::Errno;
use rustix::mount::{FsOpenFlags, MountFlags as OldFlags, fsopen, mount};
use rustix::process::{chdir, fchdir};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A value of fsconfig(2) is shorter, in bytes.
const MOST_IN_VALUE: usize = 256;
/// The names of overlayfs' folders, in memory or on disk.
const UPPER: &str = "upper";
const WORK: &str = "work";
/// Those that are in memory in any case.
const ROOT: &str = "root";
const FILES: &str = "files";

/// An option of overlayfs and its value, if it has one.
type MountOption<'a> = (&'a str, Option<&'a str>);

/// The root, and the folder beside it for what else has to be in memory.
pub(crate) struct Mounted {
    /// The root.
    pub(crate) root: OwnedFd,
    /// The folder.
    pub(crate) files: OwnedFd,
}

/// Whether all layers are there, as far as this user can tell.
pub(crate) fn check(layers: &Layers) -> Result<(), RunError> {
    let store = common_folder(&layers.folders);
    let opened = open(&store, OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty());
    for folder in &layers.folders {
        let found = match &opened {
            Ok(opened) => statat(opened, within(folder, &store), AtFlags::empty()),
            Err(_) => stat(folder),
        };
        // Others are no reason: a layer may belong to the user's other ids, and its folder be closed to this one.
        if let Err(Errno::NOENT | Errno::NOTDIR) = found {
            return Err(RunError::LayerMissing(folder.clone()));
        }
    }
    Ok(())
}

/// A layer's name in the folder that most are in: the way from the root costs each time.
fn within<'a>(folder: &'a Path, store: &Path) -> &'a Path {
    folder.strip_prefix(store).ok().filter(|name| !name.as_os_str().is_empty()).unwrap_or(folder)
}

/// Mounts the root over the workshop, whose mount namespace has to be this process' own. The entries of `upper` are
/// in it from the start. What is written goes to the scratch folder where there is one, else to memory.
pub(crate) fn mount_root(
    layers: &Layers,
    upper: &[Entry],
    (scratch, workshop): (Option<&Scratch>, &Path),
) -> Result<Mounted, RunError> {
    let memory = filesystem::new("tmpfs", &[("mode".into(), Some("0700".into()))], MountFlags::default())
        .map_err(system("make a file system in memory"))?;
    for (name, mode) in [(ROOT, 0o755), (FILES, 0o700)] {
        mkdirat(&memory, name, Mode::from_raw_mode(mode)).map_err(system("make a folder in memory"))?;
    }
    let on_disk = scratch.map(Scratch::open).transpose()?;
    let writable = on_disk.as_ref().unwrap_or(&memory);
    mkdirat(writable, WORK, Mode::RWXU).map_err(system("make a folder for what is written"))?;
    upper::make(writable, UPPER, upper)?;
    let place = open(workshop, OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty())
        .map_err(on("open the folder", workshop))?;
    filesystem::attach(&memory, place.as_fd()).map_err(on("mount over", workshop))?;
    // Relative names are short, wherever the workshop is.
    fchdir(&memory).map_err(on("enter", workshop))?;
    let folder = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let open = |name| openat(&memory, name, folder, Mode::empty()).map_err(system("open a folder in memory"));
    let files = open(FILES)?;
    let options = options(layers, scratch.is_some());
    let root = match overlay(layers, writable, &options) {
        Err(error) if is_old_kernel(&error) => {
            old_overlay(layers, (writable, &memory), &options)
                .map_err(|source| failed(layers, scratch, source))?;
            open(ROOT)?
        }
        root => {
            let root = root.map_err(|source| failed(layers, scratch, source))?;
            filesystem::attach(&root, open(ROOT)?.as_fd()).map_err(system("mount the root"))?;
            root
        }
    };
    Ok(Mounted { root, files })
}

/// The options of overlayfs beside the folders. What is thrown away need not reach the disk: without that option the
/// end of each launch would wait until everything on that file system has.
fn options(layers: &Layers, is_on_disk: bool) -> Vec<MountOption<'_>> {
    let kept = layers.options.iter().map(|(name, value)| (name.as_str(), value.as_deref()));
    kept.chain(is_on_disk.then_some(("volatile", None))).collect()
}

fn overlay(layers: &Layers, writable: &OwnedFd, options: &[MountOption<'_>]) -> io::Result<OwnedFd> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let store = common_folder(&layers.folders);
    chdir(&store)?;
    // A long path goes by a descriptor, which stays open until the layer is used.
    let mut opened = Vec::new();
    for folder in &layers.folders {
        let name = match within(folder, &store).to_str() {
            Some(name) if name.len() < MOST_IN_VALUE => name.to_owned(),
            _ => {
                let layer = open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                let name = format!("/proc/self/fd/{}", layer.as_raw_fd());
                opened.push(layer);
                name
            }
        };
        filesystem::set(&context, "lowerdir+", Some(&name))?;
    }
    fchdir(writable)?;
    filesystem::set(&context, "upperdir", Some(UPPER))?;
    filesystem::set(&context, "workdir", Some(WORK))?;
    for (name, value) in options {
        filesystem::set(&context, name, *value)?;
    }
    filesystem::create(&context, MountFlags::default())
}

/// Before Linux 6.5 overlayfs takes all layers as one value.
fn is_old_kernel(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) && !is_at_least((6, 5))
}

/// By mount(2), whose options have to fit one page: names are relative to the folder that most layers are in.
fn old_overlay(
    layers: &Layers,
    (writable, memory): (&OwnedFd, &OwnedFd),
    options: &[MountOption<'_>],
) -> io::Result<()> {
    let store = common_folder(&layers.folders);
    let name = |folder: &PathBuf| {
        let relative = within(folder, &store);
        relative.to_string_lossy().replace('\\', "\\\\").replace(':', "\\:").replace(',', "\\,")
    };
    let lower = layers.folders.iter().map(name).collect::<Vec<_>>().join(":");
    let [writable, memory] = [writable, memory].map(|fd| format!("/proc/self/fd/{}", fd.as_raw_fd()));
    let mut words = format!("lowerdir={lower},upperdir={writable}/{UPPER},workdir={writable}/{WORK}");
    for (name, value) in options {
        words.push(',');
        words.push_str(name);
        words.extend(value.iter().flat_map(|value| ["=", value]));
    }
    chdir(&store)?;
    let words = std::ffi::CString::new(words)?;
    Ok(mount("overlay", format!("{memory}/{ROOT}"), "overlay", OldFlags::NODEV, words.as_c_str())?)
}

/// The longest folder that all are in.
fn common_folder(folders: &[PathBuf]) -> PathBuf {
    let mut common = folders.first().and_then(|folder| folder.parent()).unwrap_or(Path::new("/")).to_owned();
    while !folders.iter().all(|folder| folder.starts_with(&common)) && common.pop() {}
    common
}

fn failed(layers: &Layers, scratch: Option<&Scratch>, source: io::Error) -> RunError {
    let missing = layers
        .folders
        .iter()
        .find(|folder| matches!(statat(CWD, *folder, AtFlags::empty()), Err(Errno::NOENT)));
    match (missing, scratch) {
        (Some(folder), _) => RunError::Path { what: "use the image's layer", path: folder.clone(), source },
        // Memory and podman's layers have been used so before.
        (None, Some(scratch)) if source.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
            RunError::NoOverlay(scratch.path().to_owned())
        }
        (None, _) => RunError::System { what: "put the image's layers together", source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_what_the_layers_share() {
        let folders = ["/s/overlay/l/A", "/s/overlay/l/B", "/s/overlay/l/A/../diff1"].map(PathBuf::from);
        assert_eq!(common_folder(&folders), Path::new("/s/overlay/l"));
        let far = ["/a/l/A", "/b/l/B"].map(PathBuf::from);
        assert_eq!(common_folder(&far), Path::new("/"));
    }
}
