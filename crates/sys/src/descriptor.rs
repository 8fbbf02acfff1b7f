//! What a descriptor leads to, as far as that decides whom it can be given to.

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, fstatfs, major, minor};
use std::os::fd::BorrowedFd;

/// The file systems of anonymous pipes and of sockets (`PIPEFS_MAGIC`, `SOCKFS_MAGIC` of linux/magic.h).
const PIPEFS: rustix::fs::FsWord = 0x5049_5045;
const SOCKFS: rustix::fs::FsWord = 0x534f_434b;

/// Character devices that mean the same to everybody, by their numbers (devices.txt of the kernel's
/// documentation): null, zero, full, random, urandom.
const HARMLESS: [(u32, u32); 5] = [(1, 3), (1, 5), (1, 7), (1, 8), (1, 9)];
/// The controlling terminal, and the pseudo-terminals.
const TERMINAL: (u32, u32) = (5, 0);
const PSEUDO_TERMINALS: std::ops::RangeInclusive<u32> = 136..=143;

/// Whether it is an anonymous pipe.
#[must_use]
pub fn is_anonymous_pipe(descriptor: BorrowedFd<'_>) -> bool {
    is_on(descriptor, PIPEFS)
}

/// Whether a process with more rights than the caller's can be given it: opening it anew through
/// `/proc/self/fd` gives that process nothing that it has not anyway.
///
/// Files, named pipes and most devices do not pass, nor does a descriptor that was opened without any
/// permission (`O_PATH`).
#[must_use]
pub fn is_harmless(descriptor: BorrowedFd<'_>) -> bool {
    let (Ok(flags), Ok(stat)) = (fcntl_getfl(descriptor), fstat(descriptor)) else { return false };
    if flags.contains(OFlags::PATH) {
        return false;
    }
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo => is_on(descriptor, PIPEFS),
        FileType::Socket => is_on(descriptor, SOCKFS),
        FileType::CharacterDevice => {
            let device = (major(stat.st_rdev), minor(stat.st_rdev));
            HARMLESS.contains(&device) || device == TERMINAL || PSEUDO_TERMINALS.contains(&device.0)
        }
        _ => false,
    }
}

fn is_on(descriptor: BorrowedFd<'_>, system: rustix::fs::FsWord) -> bool {
    fstatfs(descriptor).is_ok_and(|found| found.f_type == system)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, open};
    use std::os::fd::AsFd;

    #[test]
    fn pipes_sockets_and_null_are_harmless_and_files_are_not() {
        let (reader, writer) = std::io::pipe().unwrap();
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        for harmless in [reader.as_fd(), writer.as_fd(), socket.as_fd(), null.as_fd()] {
            assert!(is_harmless(harmless));
        }
        assert!(!is_harmless(tempfile::tempfile().unwrap().as_fd()));
        assert!(!is_harmless(std::fs::File::open("/").unwrap().as_fd()));

        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        for (path, flags) in [(fifo.as_path(), OFlags::RDWR), (&fifo, OFlags::PATH)] {
            assert!(!is_harmless(open(path, flags, Mode::empty()).unwrap().as_fd()));
        }
        assert!(!is_harmless(open("/dev/null", OFlags::PATH, Mode::empty()).unwrap().as_fd()));
    }
}
