//! The command's process, from fork to exec.

use crate::{confine, privileges};
use flake_plan::Process;
use flake_plan::Seccomp;
use flake_sys::exec::{Descriptors, Program, park, reset_signals};
use flake_sys::signals::{SignalSet, set_mask};
use flake_sys::spawn::{SpawnError, Stage};
use flake_wire::Ids;
use nix::libc;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// An error number.
pub(crate) type Errno = i32;

/// The length of a failure's report: the stage, three bytes of padding, the error number.
pub(crate) const REPORT: usize = 8;

/// Everything that the command's process needs, made before it is.
pub(crate) struct Prepared<'recipe> {
    pub(crate) program: Program,
    pub(crate) descriptors: Descriptors,
    pub(crate) process: &'recipe Process,
    pub(crate) filters: &'recipe [Seccomp],
    pub(crate) becomes: Option<Ids>,
    pub(crate) cwd: CString,
    pub(crate) umask: u32,
    pub(crate) ignored: SignalSet,
    pub(crate) blocked: SignalSet,
}

/// Becomes the command, or reports the stage that failed and ends.
pub(crate) fn execute(mut prepared: Prepared<'_>, report: &OwnedFd) -> ! {
    // Above every number that is filled below.
    let report = park(report.as_raw_fd(), prepared.descriptors.first_free()).unwrap_or(report.as_raw_fd());
    let Err((stage, error)) = become_command(&mut prepared);
    let mut bytes = [0; REPORT];
    bytes[0] = stage.code();
    bytes[4..].copy_from_slice(&error.to_ne_bytes());
    // SAFETY: the buffer is as long as said; the process ends without running anything of its parent's.
    unsafe {
        libc::write(report, bytes.as_ptr().cast(), REPORT);
        libc::_exit(127)
    }
}

/// The failure that [`execute`] wrote.
pub(crate) fn read_report(bytes: [u8; REPORT]) -> SpawnError {
    let error = i32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    SpawnError { stage: Stage::from_code(bytes[0]), source: io::Error::from_raw_os_error(error) }
}

fn become_command(prepared: &mut Prepared<'_>) -> Result<std::convert::Infallible, (Stage, Errno)> {
    let process = prepared.process;
    let confined = |error| (Stage::Confine, error);
    reset_signals(prepared.ignored);
    // SAFETY: cannot fail.
    unsafe { libc::umask(prepared.umask) };
    prepared.descriptors.place().map_err(|error| (Stage::Descriptors, error))?;
    privileges::limit(&process.rlimits).map_err(confined)?;
    privileges::bound(&process.capabilities).map_err(confined)?;
    if let Some(profile) = &process.apparmor {
        confine::change_profile(profile).map_err(confined)?;
    }
    // With the flag a filter needs no rights, without it those that go with the user.
    if process.no_new_privileges {
        privileges::renounce().map_err(confined)?;
    } else {
        confine::filter(prepared.filters).map_err(confined)?;
    }
    privileges::assume(process, prepared.becomes.as_ref()).map_err(|error| (Stage::User, error))?;
    if process.no_new_privileges {
        confine::filter(prepared.filters).map_err(confined)?;
    }
    // SAFETY: the string ends in NUL.
    if unsafe { libc::chdir(prepared.cwd.as_ptr()) } < 0 {
        return Err((Stage::Directory, last_error()));
    }
    set_mask(prepared.blocked)
        .map_err(|error| (Stage::Process, error.raw_os_error().unwrap_or(libc::EIO)))?;
    Err((Stage::Execute, prepared.program.execute()))
}

pub(crate) fn last_error() -> Errno {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
