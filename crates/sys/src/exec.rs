//! Becoming a program: the last steps of a process that was forked for it. Nothing here allocates once it is
//! prepared, so that the code is sound between fork and exec.

use crate::signals::SignalSet;
use nix::libc;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;

const SHELL: &CStr = c"/bin/sh";

/// A program with everything allocated that executing it takes.
pub struct Program {
    candidates: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    /// The words for a script without an interpreter line: `sh`, the script, its words.
    script_argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
    _words: (Vec<CString>, Vec<CString>),
}

impl Program {
    /// Paths tried in turn, as a lookup in `PATH` does; the words, the program's own first; the whole environment,
    /// `NAME=value` each.
    ///
    /// # Errors
    /// There is no path or no word.
    pub fn new(candidates: Vec<CString>, words: Vec<CString>, env: Vec<CString>) -> io::Result<Self> {
        if words.is_empty() || candidates.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a command without words"));
        }
        let argv = pointers(&words);
        let mut script_argv = vec![SHELL.as_ptr(), ptr::null()];
        script_argv.extend_from_slice(&argv[1..]);
        Ok(Self { candidates, argv, script_argv, env: pointers(&env), _words: (words, env) })
    }

    /// All that may be executed: the paths that are tried, and the shell, which is for what has no format.
    pub fn executed(&self) -> impl Iterator<Item = &CStr> {
        self.candidates.iter().map(CString::as_c_str).chain([SHELL])
    }

    /// Becomes the program; comes back with the error number that decides.
    pub fn execute(&mut self) -> i32 {
        let mut decisive = libc::ENOENT;
        for candidate in &self.candidates {
            // SAFETY: the strings end in NUL and the arrays in a null pointer, all alive in `self`.
            unsafe { libc::execve(candidate.as_ptr(), self.argv.as_ptr(), self.env.as_ptr()) };
            match last_error() {
                libc::ENOEXEC => {
                    self.script_argv[1] = candidate.as_ptr();
                    return self.run_script();
                }
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => decisive = libc::EACCES,
                error => return error,
            }
        }
        decisive
    }

    /// A file without a format the kernel knows is a shell script, as for `execvp`.
    fn run_script(&self) -> i32 {
        // SAFETY: as above.
        unsafe { libc::execve(SHELL.as_ptr(), self.script_argv.as_ptr(), self.env.as_ptr()) };
        libc::ENOEXEC
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Program").field("candidates", &self.candidates).finish_non_exhaustive()
    }
}

fn pointers(words: &[CString]) -> Vec<*const libc::c_char> {
    words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect()
}

/// The descriptors of a program and their numbers. All others are closed by executing it.
#[derive(Debug, Default)]
pub struct Descriptors {
    numbered: Vec<(u16, OwnedFd)>,
    /// Where each descriptor waits while the numbers below are being filled.
    parked: Vec<RawFd>,
}

impl Descriptors {
    /// With these numbers.
    #[must_use]
    pub fn new(numbered: Vec<(u16, OwnedFd)>) -> Self {
        let parked = Vec::with_capacity(numbered.len());
        Self { numbered, parked }
    }

    /// The lowest number above all of them.
    #[must_use]
    pub fn first_free(&self) -> RawFd {
        self.numbered.iter().map(|(number, _)| RawFd::from(*number) + 1).fold(3, RawFd::max)
    }

    /// The numbers.
    pub fn numbers(&self) -> impl Iterator<Item = RawFd> {
        self.numbered.iter().map(|(number, _)| RawFd::from(*number))
    }

    /// Fills the numbers and sees to it that no other descriptor is open in the program, also none that this process
    /// inherited.
    ///
    /// # Errors
    /// The error number.
    pub fn place(&mut self) -> Result<(), i32> {
        let above = self.first_free();
        for (_, descriptor) in &self.numbered {
            // Within the capacity reserved beforehand.
            self.parked.push(park(descriptor.as_raw_fd(), above)?);
        }
        close_on_exec_from(3);
        for standard in 0..3 {
            // SAFETY: a plain number, of which nothing in this process is used any more.
            unsafe { libc::close(standard) };
        }
        for ((number, _), parked) in self.numbered.iter().zip(&self.parked) {
            // SAFETY: plain numbers; the copy is not closed on exec.
            if unsafe { libc::dup2(*parked, RawFd::from(*number)) } < 0 {
                return Err(last_error());
            }
        }
        Ok(())
    }
}

/// Closes all descriptors but those of a program, by their numbers, and one more: no name in `/proc/self/fd` leads to
/// them then. It allocates, so it is for the child of a process that has one thread.
pub fn close_others(numbers: impl Iterator<Item = RawFd>, kept: RawFd) {
    let mut stay: Vec<RawFd> = numbers.chain([kept]).collect();
    stay.sort_unstable();
    let mut first = 0;
    for number in stay {
        if first < number {
            close_all(first, number - 1);
        }
        first = number + 1;
    }
    close_all(first, RawFd::MAX);
}

fn close_all(first: RawFd, last: RawFd) {
    // SAFETY: plain numbers, of which nothing in this process is used any more.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, last, 0) != 0 {
            // Linux before 5.9.
            for number in first..=last.min(crate::spawn::most_descriptors()) {
                libc::close(number);
            }
        }
    }
}

/// Default actions for all signals but those that are to be ignored.
pub fn reset_signals(ignored: SignalSet) {
    for number in 1..=64 {
        let action = if ignored.contains(number) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: the action is no function; the numbers that cannot be set are refused by the kernel.
        unsafe { libc::signal(number, action) };
    }
}

/// Marks all descriptors from a number up as closed on exec.
fn close_on_exec_from(first: RawFd) {
    // SAFETY: plain numbers.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, RawFd::MAX, libc::CLOSE_RANGE_CLOEXEC) == 0 {
            return;
        }
        // Linux before 5.11.
        for number in first..crate::spawn::most_descriptors() {
            libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Copies a descriptor to a number of at least `above`, closed on exec.
///
/// # Errors
/// The error number.
pub fn park(descriptor: RawFd, above: RawFd) -> Result<RawFd, i32> {
    // SAFETY: plain numbers.
    let parked = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, above) };
    if parked < 0 { Err(last_error()) } else { Ok(parked) }
}

/// The number of the last error.
#[must_use]
pub fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
