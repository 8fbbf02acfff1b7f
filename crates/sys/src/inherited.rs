//! What a process inherited and Rust's runtime changes before `main`: closed standard descriptors are
//! opened on /dev/null, and SIGPIPE is ignored. A launcher hands the true state on to its command.

use crate::signals::SignalSet;
use nix::libc;
use rustix::fs::FileType;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

static CLOSED: AtomicU8 = AtomicU8::new(0);
static IGNORED: AtomicU64 = AtomicU64::new(0);
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Whether one of the descriptors 0 to 2 was closed when the process started.
#[must_use]
pub fn was_closed(descriptor: u8) -> bool {
    descriptor < 3 && CLOSED.load(Ordering::Relaxed) & (1 << descriptor) != 0
}

/// The signals that were ignored when the process started.
#[must_use]
pub fn ignored() -> SignalSet {
    SignalSet::from_bits(IGNORED.load(Ordering::Relaxed))
}

/// The signals that were blocked when the process started.
#[must_use]
pub fn blocked() -> SignalSet {
    SignalSet::from_bits(BLOCKED.load(Ordering::Relaxed))
}

/// Takes over an inherited descriptor above the standard ones, and closes it on exec from now on. None
/// when it is not open, or was taken over before.
#[must_use]
pub fn descriptor(number: i32) -> Option<OwnedFd> {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let bit = 1_u64.checked_shl(u32::try_from(number).ok()?).filter(|_| number > 2)?;
    // SAFETY: F_GETFD takes no pointer and accepts any number.
    let open = unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0;
    if !open || TAKEN.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
        return None;
    }
    // SAFETY: the descriptor is open; the bit set above makes this its only owner.
    let owned = unsafe { OwnedFd::from_raw_fd(number) };
    rustix::io::fcntl_setfd(&owned, rustix::io::FdFlags::CLOEXEC).ok()?;
    Some(owned)
}

/// A descriptor by its number, if it is open.
///
/// For those that the process was started with: nothing in it may close them.
#[must_use]
pub fn open(number: u16) -> Option<BorrowedFd<'static>> {
    let number = i32::from(number);
    // SAFETY: F_GETFD takes no pointer and accepts any number.
    let open = unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0;
    // SAFETY: it is open, and as an inherited one it has no owner in this process that would close it.
    open.then(|| unsafe { BorrowedFd::borrow_raw(number) })
}

/// Lets go of an inherited pipe or socket, so that only others hold it: what it led to is closed, its
/// number leads to /dev/null. Files and devices stay, since nobody can tell that they are still open here.
pub fn release(number: u16) {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        release_to(number, null.as_fd());
    }
}

/// The same with a /dev/null that was opened before, for a process whose root is not to be trusted.
pub fn release_to(number: u16, null: BorrowedFd<'_>) {
    let Some(inherited) = open(number) else { return };
    let kind = rustix::fs::fstat(inherited).map(|stat| FileType::from_raw_mode(stat.st_mode));
    if matches!(kind, Ok(FileType::Fifo | FileType::Socket)) {
        // SAFETY: both are open; replacing what a number leads to at once leaves no moment in which another
        // descriptor could take it.
        unsafe { libc::dup2(null.as_raw_fd(), i32::from(number)) };
    }
}

extern "C" fn record() {
    for descriptor in 0..3_u8 {
        // SAFETY: F_GETFD takes no pointer and accepts any number.
        if unsafe { libc::fcntl(i32::from(descriptor), libc::F_GETFD) } < 0 {
            CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
    let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: a null new mask only reads; the kernel fills the old one.
    let masked = unsafe { libc::sigprocmask(libc::SIG_BLOCK, ptr::null(), mask.as_mut_ptr()) } == 0;
    for number in 1..=64 {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: a null new action only reads; on success the old one is filled.
        let ignored = unsafe {
            libc::sigaction(number, ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        };
        if ignored {
            IGNORED.fetch_or(1 << (number - 1), Ordering::Relaxed);
        }
        // SAFETY: the mask was filled when `masked` is set.
        if masked && unsafe { libc::sigismember(mask.as_ptr(), number) } == 1 {
            BLOCKED.fetch_or(1 << (number - 1), Ordering::Relaxed);
        }
    }
}

// SAFETY: the loader calls the functions of this section one after the other before `main`; this one
// makes async-signal-safe calls and stores to atomics only, so it needs nothing that is not yet set up.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = record;
