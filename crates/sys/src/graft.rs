//! Mounting a folder into a container that runs.
//!
//! A short-lived process copies the folder's mount where the caller stands, goes into the container's mount namespace,
//! and attaches the copy there. A normal user does the first in a user namespace that is the container's own: whoever
//! made the namespaces above it may enter it. What the container holds is hostile: no name in it leads anywhere but to
//! folders of its own, and nobody in it sees the process.

mod error;
mod mountinfo;
mod place;
mod tree;

pub use error::{GraftError, Step};

use crate::helper;
use error::Failure;
use mountinfo::Mountinfo;
use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, move_mount};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{DumpableBehavior, fchdir, set_dumpable_behavior};
use rustix::thread::{ThreadNameSpaceType, UnshareFlags, move_into_thread_name_spaces, unshare_unsafe};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;
use tree::Tree;

/// Which folder goes where.
#[derive(Debug, Clone, Copy)]
pub struct Graft<'a> {
    /// The first process of the container, by `pidfd_open`.
    pub container: BorrowedFd<'a>,
    /// The very folder, whatever is done to its name meanwhile, in the caller's mount namespace. `O_PATH` is enough.
    pub folder: BorrowedFd<'a>,
    /// Where it is to be inside: an absolute path without `..`, not the root. What is missing of it is made, with
    /// mode 0755, by the container's root; a link in it is an error.
    pub target: &'a Path,
    /// Whether nothing can be written through it.
    pub read_only: bool,
}

impl Graft<'_> {
    /// Mounts the folder and what is mounted below it, without devices and set-user-id programs. Where it is already
    /// what is seen at the target, nothing is done. It stays until the container ends; what is mounted on the host
    /// later does not show in it, and what is unmounted there stays in it.
    ///
    /// The caller has one thread, and lets one call at a time work on a container, else a folder can be mounted twice
    /// at its place. Linux 5.12 is needed.
    ///
    /// # Errors
    /// The target is no such path; no process could be made; or the step that failed.
    pub fn mount(&self) -> Result<(), GraftError> {
        let failed = |step, error| GraftError::new(self.target, step, error);
        let names = place::names(self.target).ok_or_else(|| GraftError::Target(self.target.to_owned()))?;
        let no_process = |error: io::Error| failed(Step::Process, error);
        let (says, said) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| no_process(error.into()))?;
        let helper = helper::start(move || {
            let Err(failure) = self.work(&names) else { return 0 };
            let _ = File::from(said).write_all(&failure.to_bytes());
            1
        });
        let helper = helper.map_err(no_process)?;
        let mut failure = [0; Failure::SIZE];
        let is_told = File::from(says).read_exact(&mut failure).is_ok();
        match helper.finish().map_err(no_process)? {
            Some(0) => Ok(()),
            Some(_) if is_told => {
                let failure = Failure::from_bytes(failure);
                Err(failed(failure.step, failure.error.into()))
            }
            _ => Err(no_process(io::Error::other("it was killed"))),
        }
    }

    /// What the process does.
    fn work(&self, names: &[&Path]) -> Result<(), Failure> {
        let at = |step| move |error| Failure { step, error };
        // From here on it is in the container's namespaces bit by bit, where a debugger might find it.
        set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(at(Step::Process))?;
        let wanted = fstat(self.folder).map_err(at(Step::Folder))?;
        let mounts = Mountinfo::of_this_process().map_err(at(Step::Propagation))?;
        // The working directory goes along into a copied mount namespace, which no other descriptor does.
        fchdir(self.folder).map_err(at(Step::Folder))?;
        if enter_user_namespace(self.container).map_err(at(Step::User))? {
            // SAFETY: this process has one thread, and shares nothing with another.
            unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.map_err(at(Step::Space))?;
        }
        let tree = Tree::of_working_directory().map_err(at(Step::Copy))?;
        tree.confine(self.read_only).map_err(at(Step::Confine))?;
        move_into_thread_name_spaces(self.container, ThreadNameSpaceType::MOUNT).map_err(at(Step::Enter))?;
        let place = place::find_or_make(names, &mounts)?;
        let found = fstat(&place).map_err(at(Step::Attach))?;
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino) {
            return Ok(());
        }
        mounts.refuse_shared(&place).map_err(at(Step::Propagation))?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&tree.0, "", &place, "", flags).map_err(at(Step::Attach))
    }
}

/// Enters the container's user namespace; says whether that is another one than this process'.
fn enter_user_namespace(container: BorrowedFd<'_>) -> Result<bool, Errno> {
    match move_into_thread_name_spaces(container, ThreadNameSpaceType::USER) {
        Ok(()) => Ok(true),
        // Nobody enters a namespace anew. A kernel that does not know this call says it again at the next step.
        Err(Errno::INVAL) => Ok(false),
        Err(error) => Err(error),
    }
}
