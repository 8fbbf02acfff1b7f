//! The first process of the namespace: it takes over those whose parents have ended, and dies with the launcher,
//! which ends everything inside. It tells the launcher whether a signal went to the whole process group.

use flake_sys::title;
use nix::libc;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

/// The launcher asks by this signal, whose value is the number of the one it asks about.
pub(crate) const QUESTION: i32 = 64;

/// What an init needs.
pub(crate) struct Init {
    /// The launcher.
    pub(crate) launcher: OwnedFd,
    /// Where answers go, a byte each.
    pub(crate) answers: OwnedFd,
    /// What a question has in it that comes from the launcher.
    pub(crate) secret: u32,
}

/// The value of a question about a signal.
pub(crate) fn question(secret: u32, number: i32) -> *mut libc::c_void {
    std::ptr::without_provenance_mut((secret as usize) << 8 | number.unsigned_abs() as usize & 0xff)
}

/// Runs as the init; all signals are blocked.
pub(crate) fn run(init: &Init) -> ! {
    // The command's words would be listed twice.
    title::set(c"flake-init");
    // SAFETY: plain numbers and a string that ends in NUL. The descriptors that are used stay open: they are moved to
    // the lowest numbers, and nothing else in this process is.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if is_gone(&init.launcher) {
            libc::_exit(0);
        }
        let answers = libc::fcntl(init.answers.as_raw_fd(), libc::F_DUPFD, 1000);
        libc::dup2(answers, 0);
        libc::syscall(libc::SYS_close_range, 1, u32::MAX, 0);
    }
    loop {
        match next_signal(init.secret) {
            (libc::SIGCHLD, _) => reap(),
            (QUESTION, number) => answer(number),
            _ => {}
        }
    }
}

/// Whether the launcher has ended before its death could be asked for.
fn is_gone(launcher: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(launcher, PollFlags::IN)], Some(&now)).is_ok_and(|count| count > 0)
}

fn next_signal(secret: u32) -> (i32, i32) {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    let mut info = MaybeUninit::<libc::siginfo_t>::uninit();
    // SAFETY: the set is filled before it is read, the information is read only where the call has filled it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::sigaddset(set.as_mut_ptr(), QUESTION);
        match libc::sigwaitinfo(set.as_ptr(), info.as_mut_ptr()) {
            QUESTION => {
                let value = info.assume_init().si_value().sival_ptr;
                let number = i32::try_from(value.addr() & 0xff).unwrap_or(0);
                // Whoever is inside can send anything here.
                let is_launchers = value.addr() == question(secret, number).addr();
                (if is_launchers { QUESTION } else { 0 }, number)
            }
            number => (number, 0),
        }
    }
}

fn reap() {
    // SAFETY: no status is asked for.
    while unsafe { libc::waitpid(-1, ptr::null_mut(), libc::WNOHANG) } > 0 {}
}

/// The answer is yes when this process, which is in the launcher's group, has got the signal as well.
fn answer(number: i32) {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the set is filled before it is read; no information is asked for; the buffer is as long as said.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), number);
        let has_got = libc::sigtimedwait(set.as_ptr(), ptr::null_mut(), &raw const now) == number;
        let byte = u8::from(has_got);
        libc::write(0, (&raw const byte).cast(), 1);
    }
}
