//! Keeping the launcher's own file out of the root.
//!
//! Until the command is executed, `/proc/self/exe` is the launcher, and `/proc/self/fd` has its descriptors. An image whose
//! program is a link there, or a script with such an interpreter, would have the host's file run inside, where whoever is
//! root could change its mode or owner through `/proc/PID/exe` (the class of CVE-2019-5736); or it would start in a folder
//! of the host (that of CVE-2024-21626). So no way to the program or to the folder may lead over one of the kernel's magic
//! links (symlink(7)).

use crate::child::Errno;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::{Errno as Error, read};
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How far scripts are followed: the kernel's own bound (`exec_binprm` in fs/exec.c).
const DEEPEST: u32 = 6;
/// As much of a file as the kernel looks at, in bytes (`BINPRM_BUF_SIZE`).
const HEAD: usize = 256;

/// Whether the programs may be executed in a folder, whichever of them is there.
///
/// # Errors
/// `EACCES` where one leads to the launcher or one of its descriptors.
pub(crate) fn check<'a>(folder: &CStr, programs: impl IntoIterator<Item = &'a CStr>) -> Result<(), Errno> {
    let folder = match resolve(CWD, folder.to_bytes(), OFlags::PATH) {
        Err(Error::LOOP) => return Err(Error::ACCESS.raw_os_error()),
        folder => folder.ok(),
    };
    let folder = folder.as_ref().map_or(CWD, AsFd::as_fd);
    programs.into_iter().try_for_each(|program| follow(folder, program.to_bytes(), 0))
}

fn resolve(folder: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd, Error> {
    openat2(folder, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
}

fn follow(folder: BorrowedFd<'_>, program: &[u8], depth: u32) -> Result<(), Errno> {
    let file = match resolve(folder, program, OFlags::PATH) {
        Ok(file) => file,
        // Too many links are as good a reason.
        Err(Error::LOOP) => return Err(Error::ACCESS.raw_os_error()),
        // The kernel will not find it either.
        Err(_) => return Ok(()),
    };
    let is_file = fstat(&file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
    if !is_file || depth >= DEEPEST {
        return Ok(());
    }
    let Ok(file) = resolve(folder, program, OFlags::RDONLY | OFlags::NONBLOCK) else { return Ok(()) };
    let mut head = [0; HEAD];
    let head = beginning(&file, &mut head);
    match interpreter(head) {
        Some(interpreter) => follow(folder, interpreter, depth + 1),
        None => Ok(()),
    }
}

fn beginning<'a>(file: &OwnedFd, buffer: &'a mut [u8; HEAD]) -> &'a [u8] {
    let count = read(file, &mut buffer[..]).unwrap_or(0);
    &buffer[..count]
}

/// What a script says in its first line (execve(2), "Interpreter scripts").
fn interpreter(head: &[u8]) -> Option<&[u8]> {
    let line = head.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n' || *byte == 0).next()?;
    let line = line.trim_ascii_start();
    let name = line.split(|byte| matches!(byte, b' ' | b'\t')).next()?;
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_first_line_names_the_interpreter() {
        for (head, expected) in [
            (&b"#!/bin/sh\n"[..], Some(&b"/bin/sh"[..])),
            (b"#! \t/bin/sh -e\n", Some(b"/bin/sh")),
            (b"#!x", Some(b"x")),
            (b"#!\n/bin/sh", None),
            (b"/bin/sh", None),
        ] {
            assert_eq!(interpreter(head), expected, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn nothing_leads_to_this_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("plain"), "echo\n").unwrap();
        fs::write(path("good"), format!("#!{}\n", path("plain").display())).unwrap();
        fs::write(path("own"), "#!/proc/self/exe\n").unwrap();
        fs::write(path("nested"), format!("#! {} x\n", path("own").display())).unwrap();
        symlink("/proc/self/exe", path("link")).unwrap();
        symlink("link", path("link-to-link")).unwrap();
        fs::write(path("by-number"), "#!/proc/self/fd/3\n").unwrap();
        let here = CString::new(folder.path().as_os_str().as_bytes()).unwrap();
        let check = |name: &str| check(&here, [CString::new(name).unwrap().as_c_str()]);
        assert!(super::check(c"/proc/self/cwd", []).is_err() && super::check(c"/absent", []).is_ok());
        for name in ["plain", "good", "absent", ".", "/bin/sh"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["own", "nested", "link", "link-to-link", "by-number"] {
            assert_eq!(check(name), Err(Error::ACCESS.raw_os_error()), "{name}");
        }
    }
}
