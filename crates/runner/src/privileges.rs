//! What the command may do: user, groups, capabilities, limits. All of it for the calling process, between fork and
//! exec.

use crate::child::Errno;
use flake_plan::{Capabilities, Process, Rlimit};
use flake_wire::Ids;
use nix::libc;
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

/// One more than the largest number that a capability can have.
const CAPABILITIES: u32 = 64;

/// Limits of the caller's that are for the command, and not for what is made for it.
const RAISED: [libc::__rlimit_resource_t; 2] = [libc::RLIMIT_NOFILE, libc::RLIMIT_FSIZE];

/// The caller's own limits, while they are raised.
#[derive(Debug, Clone)]
pub(crate) struct Raised(Vec<(libc::__rlimit_resource_t, libc::rlimit)>);

impl Raised {
    /// Raises them as far as this user may.
    pub(crate) fn new() -> Self {
        let mut own = Vec::with_capacity(RAISED.len());
        for resource in RAISED {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the pointers are to live structures.
            unsafe {
                if libc::getrlimit(resource, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
                    own.push((resource, limit));
                    let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
                    libc::setrlimit(resource, &raw const raised);
                }
            }
        }
        Self(own)
    }

    /// Sets them to what they were.
    pub(crate) fn restore(&self) {
        for (resource, limit) in &self.0 {
            // SAFETY: the pointer is to a live structure.
            unsafe { libc::setrlimit(*resource, &raw const *limit) };
        }
    }
}

/// Sets the limits. One that is higher than this process may go stays as high as it may.
pub(crate) fn limit(rlimits: &[Rlimit]) -> Result<(), Errno> {
    for rlimit in rlimits {
        let Rlimit { resource, soft, hard } = *rlimit;
        let mut current = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointers are to live structures.
        unsafe {
            check(libc::getrlimit(resource as _, &raw mut current))?;
            let mut wanted = libc::rlimit { rlim_cur: soft, rlim_max: hard };
            if libc::setrlimit(resource as _, &raw const wanted) != 0 {
                wanted.rlim_max = hard.min(current.rlim_max);
                wanted.rlim_cur = soft.min(wanted.rlim_max);
                check(libc::setrlimit(resource as _, &raw const wanted))?;
            }
        }
    }
    Ok(())
}

/// Gives up for good what the bounding set does not have.
pub(crate) fn bound(capabilities: &Capabilities) -> Result<(), Errno> {
    for number in 0..CAPABILITIES {
        if capabilities.bounding & (1 << number) != 0 {
            continue;
        }
        // SAFETY: plain numbers.
        match check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(number), 0, 0, 0) }) {
            // The kernel has no more.
            Err(libc::EINVAL) => break,
            dropped => dropped?,
        }
    }
    Ok(())
}

/// Becomes the recipe's user with the capabilities that it has, and then whom the call says.
pub(crate) fn assume(process: &Process, becomes: Option<&Ids>) -> Result<(), Errno> {
    let Capabilities { effective, permitted, inheritable, ambient, .. } = process.capabilities;
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0) })?;
    change_user(process.uid, process.gid, &process.groups)?;
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_KEEPCAPS, 0, 0, 0, 0) })?;
    let set = CapabilitySet::from_bits_retain;
    let sets = CapabilitySets {
        effective: set(effective),
        permitted: set(permitted),
        inheritable: set(inheritable),
    };
    // Whoever becomes somebody else needs the right to for a moment longer.
    set_capabilities(None, sets).map_err(rustix::io::Errno::raw_os_error)?;
    for number in (0..CAPABILITIES).filter(|number| ambient & (1 << number) != 0) {
        let raise = libc::c_ulong::from(libc::PR_CAP_AMBIENT_RAISE.unsigned_abs());
        // SAFETY: plain numbers.
        check(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, libc::c_ulong::from(number), 0, 0) })?;
    }
    match becomes {
        Some(ids) => change_user(ids.uid, ids.gid, &ids.groups),
        None => Ok(()),
    }
}

fn change_user(uid: u32, gid: u32, groups: &[u32]) -> Result<(), Errno> {
    // SAFETY: the pointer and length are of a live slice; the others are plain numbers.
    unsafe {
        check(libc::setgroups(groups.len(), groups.as_ptr()))?;
        check(libc::setresgid(gid, gid, gid))?;
        check(libc::setresuid(uid, uid, uid))
    }
}

/// Nothing can be gained by executing a program.
pub(crate) fn renounce() -> Result<(), Errno> {
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
}

fn check(result: i32) -> Result<(), Errno> {
    if result < 0 { Err(flake_sys::exec::last_error()) } else { Ok(()) }
}
