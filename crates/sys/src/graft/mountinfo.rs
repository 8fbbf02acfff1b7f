//! Which mounts of a namespace pass on what is mounted on them (proc_pid_mountinfo(5)).

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, open, openat, statx};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

/// Longer lists are not read, in bytes.
const MOST: u64 = 16 << 20;

/// The host's own view of this process: the container's `/proc` could be anything.
#[derive(Debug)]
pub(super) struct Mountinfo(OwnedFd);

impl Mountinfo {
    /// Of the process that calls, in whichever mount namespace it will be.
    pub(super) fn of_this_process() -> Result<Self, Errno> {
        open("/proc/self", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map(Self)
    }

    /// Refuses a folder whose mount is shared: what is mounted there would be mounted on the host too, and stay when
    /// the container is gone. That is so with a volume's option `shared`.
    pub(super) fn refuse_shared(&self, folder: impl AsFd) -> Result<(), Errno> {
        let mount = statx(folder, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?.stx_mnt_id;
        let list = openat(&self.0, "mountinfo", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut bytes = Vec::new();
        let read = File::from(list).take(MOST).read_to_end(&mut bytes);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        match is_shared(&String::from_utf8_lossy(&bytes), mount) {
            Some(false) => Ok(()),
            // Not in the list: it was taken away meanwhile.
            None => Err(Errno::STALE),
            Some(true) => Err(Errno::NOTSUP),
        }
    }
}

/// Whether the mount of this number is shared; none when it is not in the list.
fn is_shared(list: &str, mount: u64) -> Option<bool> {
    list.lines().find_map(|line| {
        let mut fields = line.split(' ');
        (fields.next()?.parse() == Ok(mount)).then(|| {
            fields.skip(5).take_while(|field| *field != "-").any(|field| field.starts_with("shared:"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_mounts_are_told_from_others() {
        let list = "\
21 1 0:20 / / rw,relatime shared:1 master:2 - ext4 /dev/a rw
22 21 0:21 / /shared:7 rw master:3 - overlay overlay rw,shared:9
123 21 0:22 / /proc rw - proc proc rw
";
        assert_eq!(is_shared(list, 21), Some(true));
        assert_eq!(is_shared(list, 22), Some(false));
        assert_eq!(is_shared(list, 123), Some(false));
        assert_eq!(is_shared(list, 12), None);
    }
}
