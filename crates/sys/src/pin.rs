//! A folder pinned to a path of its own.

use rustix::fs::{CWD, Mode, mkdir};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, UnmountFlags, move_mount, open_tree, unmount};
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
        let path = parent.join(format!("{:016x}", u64::from_ne_bytes(random)));
        let clone = OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        let tree = open_tree(folder, "", clone)?;
        mkdir(&path, Mode::RWXU)?;
        let pin = Self(path);
        move_mount(&tree, "", CWD, &pin.0, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        Ok(pin)
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
        let _ = std::fs::remove_dir(&self.0);
    }
}
