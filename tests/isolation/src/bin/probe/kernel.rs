//! Calls of the C library, and processes for what may end or block the one that asks.

use std::ffi::{CString, c_char, c_int, c_long, c_ulong, c_void};
use std::io;

unsafe extern "C" {
    pub(crate) fn syscall(number: c_long, ...) -> c_long;
    pub(crate) fn ioctl(fd: c_int, request: c_ulong, ...) -> c_int;
    pub(crate) fn prctl(option: c_int, ...) -> c_int;
    pub(crate) fn unshare(flags: c_int) -> c_int;
    pub(crate) fn setns(fd: c_int, kind: c_int) -> c_int;
    pub(crate) fn chroot(path: *const c_char) -> c_int;
    pub(crate) fn fchdir(fd: c_int) -> c_int;
    pub(crate) fn kill(pid: c_int, signal: c_int) -> c_int;
    pub(crate) fn mknod(path: *const c_char, mode: u32, device: u64) -> c_int;
    pub(crate) fn umount2(path: *const c_char, flags: c_int) -> c_int;
    pub(crate) fn ptrace(request: c_long, pid: c_int, address: *mut c_void, data: *mut c_void) -> c_long;
    pub(crate) fn mount(
        source: *const c_char,
        target: *const c_char,
        kind: *const c_char,
        flags: c_ulong,
        data: *const c_void,
    ) -> c_int;
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn pipe(ends: *mut c_int) -> c_int;
    fn poll(fds: *mut PollFd, count: c_ulong, timeout: c_int) -> c_int;
    fn read(fd: c_int, buffer: *mut c_void, count: usize) -> isize;
    fn write(fd: c_int, buffer: *const c_void, count: usize) -> isize;
    fn close(fd: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: i16,
    revents: i16,
}

/// The word of poll(2) for "can be read".
const POLLIN: i16 = 1;
const SIGKILL: c_int = 9;

/// Longer than any call that does not block takes, in milliseconds.
const PATIENCE: c_int = 400;

/// A word for the C library.
pub(crate) fn word(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// `ok`, or the number of the error that the last call left.
pub(crate) fn result(value: c_long) -> String {
    if value >= 0 { "ok".to_owned() } else { error(&io::Error::last_os_error()) }
}

/// The number of an error.
pub(crate) fn error(error: &io::Error) -> String {
    format!("errno {}", error.raw_os_error().unwrap_or_default())
}

/// Makes a call in a process of its own, and says what became of it: `ok`, an error's number, or how the process
/// ended otherwise. It is killed when it takes longer than a call may.
pub(crate) fn apart(call: impl FnOnce() -> c_long) -> String {
    let mut ends = [0; 2];
    // SAFETY: there is one thread; the child calls nothing but what it is for and ends; buffers are as long as said.
    unsafe {
        if pipe(ends.as_mut_ptr()) < 0 {
            return error(&io::Error::last_os_error());
        }
        let child = fork();
        if child == 0 {
            // It may have been a call that forks: both are told.
            let value = call();
            let errno = if value < 0 { io::Error::last_os_error().raw_os_error().unwrap_or(-1) } else { 0 };
            write(ends[1], errno.to_ne_bytes().as_ptr().cast(), 4);
            _exit(0);
        }
        close(ends[1]);
        let mut waiting = PollFd { fd: ends[0], events: POLLIN, revents: 0 };
        let came = poll(&raw mut waiting, 1, PATIENCE);
        let mut bytes = [0; 4];
        let count = if came == 1 { read(ends[0], bytes.as_mut_ptr().cast(), 4) } else { -1 };
        close(ends[0]);
        if came == 0 {
            kill(child, SIGKILL);
        }
        let mut status = 0;
        waitpid(child, &raw mut status, 0);
        match (came, count) {
            (0, _) => "blocks".to_owned(),
            (_, 4) => match i32::from_ne_bytes(bytes) {
                0 => "ok".to_owned(),
                number => format!("errno {number}"),
            },
            _ if status & 0x7f != 0 => format!("signal {}", status & 0x7f),
            _ => format!("exit {}", status >> 8 & 0xff),
        }
    }
}
