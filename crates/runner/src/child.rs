//! The command's process, from fork to exec.

use crate::call::Call;
use crate::privileges::Raised;
use crate::scratch::Scratch;
use crate::terminal::Terminal;
use crate::{confine, hierarchy, keyring, own_program, privileges, root, stops};
use flake_inside::account;
use flake_plan::Recipe;
use flake_sys::exec::{Descriptors, Program, close_others, last_error, park, reset_signals};
use flake_sys::signals::set_mask;
use flake_sys::spawn::{SpawnError, Stage};
use nix::libc;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// An error number.
pub(crate) type Errno = i32;

/// More than a failure's report has, in bytes.
const REPORT: usize = 4096;
/// Stands in a report where a stage would, before words.
const WORDS: u8 = u8::MAX;

/// Everything that the command's process needs, made before it is.
pub(crate) struct Prepared<'recipe> {
    pub(crate) recipe: &'recipe Recipe,
    pub(crate) call: Call,
    /// Where what is written goes on disk.
    pub(crate) scratch: Option<&'recipe Scratch>,
    pub(crate) terminal: Option<Terminal>,
    pub(crate) program: Program,
    pub(crate) descriptors: Descriptors,
    pub(crate) cwd: CString,
    pub(crate) limits: Raised,
}

/// Why the command was not executed.
#[derive(Debug)]
pub(crate) enum Report {
    /// There is no root for it.
    Root(String),
    /// Its process could not become it.
    Program(SpawnError),
}

/// Makes the root, which takes a process that is in the namespace, and becomes the command; or reports what failed
/// and ends.
pub(crate) fn execute(prepared: &mut Prepared<'_>, reports: &OwnedFd) -> ! {
    // Above every number that is filled below.
    let reports = park(reports.as_raw_fd(), prepared.descriptors.first_free()).unwrap_or(reports.as_raw_fd());
    // The caller's mask is for the command, not for what is made for it.
    // SAFETY: cannot fail.
    unsafe { libc::umask(0) };
    let bytes =
        match root::enter(prepared.recipe, &prepared.call, prepared.scratch, prepared.terminal.as_ref()) {
            Err(error) => [&[WORDS], error.to_string().as_bytes()].concat(),
            Ok(()) => {
                let Err((stage, error)) = become_command(prepared, reports);
                [&[stage.code()], &error.to_ne_bytes()[..]].concat()
            }
        };
    // SAFETY: the buffer is as long as said; the process ends without running anything of its parent's.
    unsafe {
        libc::write(reports, bytes.as_ptr().cast(), bytes.len().min(REPORT));
        libc::_exit(127)
    }
}

impl Report {
    /// What [`execute`] wrote; nothing when it became the command.
    pub(crate) fn read(reports: &OwnedFd) -> Option<Self> {
        let mut bytes = [0; REPORT];
        let count = rustix::io::read(reports, &mut bytes).ok()?;
        let (first, rest) = bytes[..count].split_first()?;
        if *first == WORDS {
            return Some(Self::Root(String::from_utf8_lossy(rest).into_owned()));
        }
        let error = rest.first_chunk().map_or(libc::EIO, |number| i32::from_ne_bytes(*number));
        let source = io::Error::from_raw_os_error(error);
        Some(Self::Program(SpawnError { stage: Stage::from_code(*first), source }))
    }
}

fn become_command(
    prepared: &mut Prepared<'_>,
    reports: RawFd,
) -> Result<std::convert::Infallible, (Stage, Errno)> {
    let Prepared { recipe, call, .. } = prepared;
    let process = &recipe.process;
    let confined = |error| (Stage::Confine, error);
    reset_signals(call.ignored);
    prepared.descriptors.place().map_err(|error| (Stage::Descriptors, error))?;
    close_others(prepared.descriptors.numbers(), reports);
    if let Some(account) = &call.account {
        account::make(account);
    }
    own_program::check(&prepared.cwd, prepared.program.executed())
        .map_err(|error| (Stage::Execute, error))?;
    if recipe.confines_programs {
        hierarchy::restrict_programs();
    }
    keyring::join_new().map_err(confined)?;
    if let Some(adjustment) = process.oom_score_adj {
        confine::rank(adjustment).map_err(confined)?;
    }
    prepared.limits.restore();
    privileges::limit(&process.rlimits).map_err(confined)?;
    privileges::bound(&process.capabilities).map_err(confined)?;
    if let Some(profile) = &process.apparmor {
        confine::change_profile(profile).map_err(confined)?;
    }
    // With the flag a filter needs no rights, without it those that go with the user.
    if process.no_new_privileges {
        privileges::renounce().map_err(confined)?;
    } else {
        confine::filter(&recipe.seccomp).map_err(confined)?;
    }
    privileges::assume(process, call.becomes.as_ref()).map_err(|error| (Stage::User, error))?;
    if process.no_new_privileges {
        confine::filter(&recipe.seccomp).map_err(confined)?;
    }
    // SAFETY: the string ends in NUL.
    if unsafe { libc::chdir(prepared.cwd.as_ptr()) } < 0 {
        return Err((Stage::Directory, last_error()));
    }
    // SAFETY: cannot fail.
    unsafe { libc::umask(call.umask) };
    stops::note(call.ignored);
    set_mask(call.blocked).map_err(|error| (Stage::Process, error.raw_os_error().unwrap_or(libc::EIO)))?;
    Err((Stage::Execute, prepared.program.execute()))
}
