//! Signals: sets of them, receiving them as a file descriptor, dying by one.

use nix::libc;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, raise, signal, sigprocmask};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A set of signals 1 to 64, real-time ones too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignalSet(u64);

impl SignalSet {
    /// The set with bit N-1 for signal N.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Bit N-1 for signal N.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// All signals but those that cannot be caught. A real fault of the process itself ends it though its
    /// signal is blocked.
    #[must_use]
    pub fn catchable() -> Self {
        Self(u64::MAX).without(libc::SIGKILL).without(libc::SIGSTOP)
    }

    /// Whether a signal is in the set.
    #[must_use]
    pub fn contains(self, number: i32) -> bool {
        bit(number) & self.0 != 0
    }

    /// The set with a signal.
    #[must_use]
    pub fn with(self, number: i32) -> Self {
        Self(self.0 | bit(number))
    }

    /// The set without a signal.
    #[must_use]
    pub fn without(self, number: i32) -> Self {
        Self(self.0 & !bit(number))
    }
}

fn bit(number: i32) -> u64 {
    u32::try_from(number - 1).ok().and_then(|shift| 1_u64.checked_shl(shift)).unwrap_or(0)
}

/// The kernel's size of a signal set, in bytes.
const KERNEL_SET: usize = size_of::<u64>();

/// Replaces the calling thread's signal mask. The raw call: the C library hides two real-time signals
/// that it uses for threads, and a set of bits needs no conversion.
///
/// # Errors
/// What the kernel says.
pub fn set_mask(set: SignalSet) -> io::Result<()> {
    let bits = set.bits();
    // SAFETY: the pointer is to a live u64, the size that the kernel's set has.
    let result = unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const bits,
            std::ptr::null_mut::<u64>(),
            KERNEL_SET,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes signals as this process was started to take them, after a [`SignalFd`].
///
/// # Errors
/// What the kernel says.
pub fn restore_mask() -> io::Result<()> {
    set_mask(crate::inherited::blocked())
}

/// Whether a signal, left to itself, ends a process.
#[must_use]
pub fn is_deadly(number: i32) -> bool {
    !is_stop(number) && ![libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH].contains(&number)
}

/// Whether a signal that can be caught, left to itself, stops a process.
#[must_use]
pub fn is_stop(number: i32) -> bool {
    [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&number)
}

/// One received signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// The signal's number.
    pub number: i32,
    /// Whether the kernel made it, as a terminal does on ^C, rather than a process.
    pub by_kernel: bool,
}

/// Signals delivered as reads of a file descriptor.
#[derive(Debug)]
pub struct SignalFd(OwnedFd);

impl SignalFd {
    /// Blocks the set's signals in the calling thread and receives them here from now on. Threads made
    /// afterwards inherit the mask, so call it before making any.
    ///
    /// # Errors
    /// What the kernel says, in practice only that no descriptor is left.
    pub fn receive(set: SignalSet) -> io::Result<Self> {
        let bits = set.bits();
        let blocked = SignalSet::from_bits(crate::inherited::blocked().bits() | bits);
        set_mask(blocked)?;
        // SAFETY: the pointer is to a live u64, the size that the kernel's set has.
        let result = unsafe {
            libc::syscall(
                libc::SYS_signalfd4,
                -1,
                &raw const bits,
                KERNEL_SET,
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            )
        };
        let descriptor = i32::try_from(result).unwrap_or(-1);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call just made this descriptor, nobody else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    /// The next waiting signal, or none.
    ///
    /// # Errors
    /// What the kernel says to the read.
    pub fn next_signal(&self) -> io::Result<Option<Received>> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the buffer is as long as said.
        let read = unsafe { libc::read(self.0.as_raw_fd(), info.as_mut_ptr().cast(), size) };
        match usize::try_from(read) {
            Ok(length) if length == size => {
                // SAFETY: the kernel filled the whole structure.
                let info = unsafe { info.assume_init() };
                Ok(Some(Received {
                    number: i32::try_from(info.ssi_signo).unwrap_or(0),
                    by_kernel: info.ssi_code == libc::SI_KERNEL,
                }))
            }
            Ok(_) => Ok(None),
            Err(_) => match io::Error::last_os_error() {
                error if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                    Ok(None)
                }
                error => Err(error),
            },
        }
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sends a signal by its number, real-time ones too, to a process or to the process group of that id.
///
/// # Errors
/// What the kernel says: no such process, or not permitted.
pub fn send(pid: i32, number: i32, group: bool) -> io::Result<()> {
    // Neither 0 nor a negative number: both mean other processes than the caller thinks.
    if pid <= 0 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: plain numbers.
    let result = unsafe { libc::kill(if group { -pid } else { pid }, number) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Ends this process by a signal, so that whoever waits for it sees that signal; without a core dump,
/// which would be the launcher's instead of the command's. Returns only when the signal does not kill.
pub fn die_by(number: i32) {
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    if let Ok(known) = Signal::try_from(number) {
        // SAFETY: the default action is no function.
        let _ = unsafe { signal(known, SigHandler::SigDfl) };
        let mut set = SigSet::empty();
        set.add(known);
        let _ = sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&set), None);
        let _ = raise(known);
        return;
    }
    // A real-time signal, which the typed calls do not know.
    let _ = set_mask(SignalSet::default());
    // SAFETY: plain numbers; the process is this one.
    unsafe { libc::kill(libc::getpid(), number) };
}

/// Takes a blocked signal back that has come and was not read yet; none is fine.
pub fn discard(number: i32) {
    let Ok(signal) = Signal::try_from(number) else { return };
    let mut set = SigSet::empty();
    set.add(signal);
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the set and the time live through the call, and nothing is asked about the signal.
    unsafe { libc::sigtimedwait(set.as_ref(), std::ptr::null_mut(), &raw const at_once) };
}

/// Stops this process as a job-control shell expects, by the given stop signal; returns when it is
/// continued. SIGTSTP and its like act even where they are blocked for a [`SignalFd`].
pub fn stop_by(number: i32) {
    let stop = Signal::try_from(number).unwrap_or(Signal::SIGSTOP);
    if stop == Signal::SIGSTOP {
        let _ = raise(stop);
        return;
    }
    let mut set = SigSet::empty();
    set.add(stop);
    let _ = raise(stop);
    // The pending signal is delivered here, and the process stops until SIGCONT.
    let _ = sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&set), None);
    let _ = sigprocmask(SigmaskHow::SIG_BLOCK, Some(&set), None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_waits_is_taken_back() {
        let fd = SignalFd::receive(SignalSet::from_bits(1 << (libc::SIGCONT - 1))).unwrap();
        raise(Signal::SIGCONT).unwrap();
        discard(libc::SIGCONT);
        assert!(fd.next_signal().unwrap().is_none());
        raise(Signal::SIGCONT).unwrap();
        assert_eq!(fd.next_signal().unwrap().map(|received| received.number), Some(libc::SIGCONT));
    }

    #[test]
    fn sets_hold_what_was_put_in() {
        let all = SignalSet::catchable();
        assert!(all.contains(libc::SIGTERM) && all.contains(64));
        assert!(!all.contains(libc::SIGKILL) && !all.contains(65) && !all.contains(0));
        assert!(!all.without(libc::SIGTERM).contains(libc::SIGTERM));
    }
}
