//! Checks with the rights of another user.

use nix::libc;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Whether a user could go into a folder, which decides whether a process of theirs may have it as its
/// working directory; `theirs` are all groups that the user is in. For a process with root's rights and one thread.
///
/// # Errors
/// What the kernel says to a change of identity, or that the answer is no.
pub fn may_enter(folder: BorrowedFd<'_>, uid: u32, gid: u32, theirs: &[u32]) -> io::Result<()> {
    let own = groups()?;
    // SAFETY: pointer and length are of a live slice; the others are plain numbers. The process has one thread, and
    // everything is changed back before anything else happens; where that fails it cannot go on.
    unsafe {
        if libc::setgroups(theirs.len(), theirs.as_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let own_gid = libc::setfsgid(gid);
        let own_uid = libc::setfsuid(uid);
        // Resolving the dot takes the permission to search the folder.
        let opened = libc::openat(folder.as_raw_fd(), c".".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        let error = io::Error::last_os_error();
        libc::setfsuid(own_uid.unsigned_abs());
        libc::setfsgid(own_gid.unsigned_abs());
        if libc::setgroups(own.len(), own.as_ptr()) != 0 {
            libc::abort();
        }
        if opened < 0 {
            return Err(error);
        }
        drop(OwnedFd::from_raw_fd(opened));
    }
    Ok(())
}

fn groups() -> io::Result<Vec<libc::gid_t>> {
    // SAFETY: a length of zero asks for the number only.
    let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let mut groups = vec![0; usize::try_from(count).map_err(|_| io::Error::last_os_error())?];
    // SAFETY: the buffer is as long as said.
    let count = unsafe { libc::getgroups(count, groups.as_mut_ptr()) };
    groups.truncate(usize::try_from(count).map_err(|_| io::Error::last_os_error())?);
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File, Permissions};
    use std::os::fd::AsFd;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_closed_folder_is_closed_to_others_and_root_is_itself_afterwards() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can check with the rights of another user");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let open = File::open(folder.path()).unwrap();
        for (mode, expected) in [(0o700, false), (0o711, true)] {
            fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(may_enter(open.as_fd(), 65534, 65534, &[65534]).is_ok(), expected, "{mode:o}");
            fs::write(folder.path().join("file"), "root again").unwrap();
        }
    }
}
