//! A folder pinned to a path of its own.

use rustix::fs::{CWD, Mode, mkdir};
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount_change, move_mount, open_tree,
    unmount,
};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

/// A mount of the very folder that a descriptor leads to, whatever is done to its name meanwhile. It is
/// unmounted with the value; what was mounted from it stays.
#[derive(Debug)]
pub struct Pin(PathBuf);

impl Pin {
    /// Mounts a folder at a fresh path below `parent`, which is made where it is absent and which only root
    /// enters. Takes root's rights.
    ///
    /// # Errors
    /// What the kernel says; a folder of another mount namespace is refused.
    pub fn new(folder: BorrowedFd<'_>, parent: &Path) -> io::Result<Self> {
        match mkdir(parent, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let mut random = [0_u8; 8];
        getrandom(&mut random, GetRandomFlags::empty())?;
        sweep(parent);
        let path = parent.join(format!("{}-{:016x}", std::process::id(), u64::from_ne_bytes(random)));
        let clone = OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        let tree = open_tree(folder, "", clone)?;
        mkdir(&path, Mode::RWXU)?;
        move_mount(&tree, "", CWD, &path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        // Before it is ever unmounted: what is mounted below the folder would go from the host with it.
        mount_change(&path, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        Ok(Self(path))
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(path: &Path) {
    let own = mount_change(path, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC);
    // Not a mount point: only the folder is left.
    if own.is_err() {
        let _ = std::fs::remove_dir(path);
        return;
    }
    let _ = unmount(path, UnmountFlags::DETACH);
    // Never recursively: while the mount is there, what is in it belongs to somebody.
    let _ = std::fs::remove_dir(path);
}

/// Removes what processes that were killed have left.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.split('-').next()).unwrap_or_default();
        let is_gone = owner.parse::<u32>().is_ok_and(|pid| !Path::new(&format!("/proc/{pid}")).exists());
        if is_gone {
            remove(&entry.path());
        }
    }
}
