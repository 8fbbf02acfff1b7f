//! What the command may ask of the kernel: seccomp(2) filters and the AppArmor profile. All of it for the calling
//! process, between fork and exec.

use crate::child::Errno;
use crate::filesystem::{self, PROC};
use flake_plan::Seccomp;
use flake_sys::exec::last_error;
use nix::libc;
use std::fs::File;
use std::io::{self, Write};

/// `struct sock_filter`, in bytes.
const INSTRUCTION: usize = size_of::<libc::sock_filter>();

/// Installs the filters, one after the other.
pub(crate) fn filter(filters: &[Seccomp]) -> Result<(), Errno> {
    for filter in filters {
        let count = filter.program.len() / INSTRUCTION;
        let program = libc::sock_fprog {
            len: u16::try_from(count).map_err(|_| libc::EINVAL)?,
            filter: filter.program.as_ptr().cast_mut().cast(),
        };
        let flags = libc::c_ulong::from(filter.flags);
        // SAFETY: the program is as long as said and lives through the call, which only reads it, at any alignment.
        let result = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        if result < 0 {
            return Err(last_error());
        }
    }
    Ok(())
}

/// Sets the rank of the calling process when memory is short (proc_pid_oom_score_adj(5)). One that is lower than this
/// user may go is left as it is, as podman does.
pub(crate) fn rank(adjustment: i32) -> Result<(), Errno> {
    match write("/proc/self/oom_score_adj", adjustment.to_string().as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        written => written.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO)),
    }
}

/// The profiles that are loaded, a line each with the mode in brackets.
const PROFILES: &str = "/sys/kernel/security/apparmor/profiles";

/// Whether an AppArmor profile can be asked for, as far as this user can tell.
pub(crate) fn has_profile(profile: &str) -> bool {
    let is_line = |line: &str| line.rsplit_once(" (").is_some_and(|(name, _)| name == profile);
    std::fs::read_to_string(PROFILES).map_or(true, |profiles| profiles.lines().any(is_line))
}

/// Asks for an AppArmor profile from the next program on (the kernel's Documentation/admin-guide/LSM/apparmor.rst).
pub(crate) fn change_profile(profile: &str) -> Result<(), Errno> {
    let ask = |path| write(path, format!("exec {profile}").as_bytes());
    // The older name, which another security module may have taken.
    let asked = ask("/proc/thread-self/attr/apparmor/exec").or_else(|_| ask("/proc/thread-self/attr/exec"));
    asked.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
}

/// Writes to one of the kernel's own files: something else that is there would take anything.
fn write(path: &str, text: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    match filesystem::kind(&rustix::fs::fstatfs(&file)?) {
        PROC => file.write_all(text),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}
