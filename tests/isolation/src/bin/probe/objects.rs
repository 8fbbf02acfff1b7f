//! Files by their handles, keys by their descriptions, descriptors by their numbers.

use crate::kernel::{apart, error, ioctl, result, syscall, word};
use crate::{number, say};
use std::ffi::{c_long, c_ulong};
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Files by their handles, past every path (open_by_handle_at(2)).
pub(crate) fn handles(path: &str) {
    #[repr(C)]
    struct Handle {
        bytes: u32,
        kind: i32,
        handle: [u8; 128],
    }
    let mut handle = Handle { bytes: 128, kind: 0, handle: [0; 128] };
    let path_word = word(path);
    let mut id = 0_i32;
    // SAFETY: words end in NUL, and structures are as long as said.
    unsafe {
        let named = syscall(
            number::NAME_TO_HANDLE,
            -100_i64,
            path_word.as_ptr(),
            &raw mut handle,
            &raw mut id,
            0_i64,
        );
        say("handle.name", result(named));
        let Ok(folder) = File::open(path) else { return };
        let opened = syscall(number::OPEN_BY_HANDLE, i64::from(folder.as_raw_fd()), &raw mut handle, 0_i64);
        say("handle.open", result(opened));
    }
}

/// Keys of whoever started this (keyrings(7)): a key by its description, in the keyrings that are searched.
pub(crate) fn key(description: &str) {
    const SEARCH: i64 = 10;
    const READ: i64 = 11;
    let (kind, name) = (word("user"), word(description));
    for (ring, number) in [("session", -3_i64), ("user_session", -5), ("user", -4), ("process", -2)] {
        // SAFETY: words end in NUL, the buffer is as long as said.
        let (found, text) = unsafe {
            let found = syscall(number::KEYCTL, SEARCH, number, kind.as_ptr(), name.as_ptr(), 0_i64);
            let said = result(found);
            let mut text = [0_u8; 100];
            let length = syscall(number::KEYCTL, READ, found, text.as_mut_ptr(), 100_i64, 0_i64);
            let length = usize::try_from(length).unwrap_or_default().min(100);
            (said, String::from_utf8_lossy(&text[..length]).into_owned())
        };
        say(format_args!("key.{ring}"), found);
        say(format_args!("key.{ring}.content"), text);
    }
}

/// Becomes a program that has a session keyring with one key.
pub(crate) fn with_key(description: &str, content: &str, program: &[&str]) {
    const JOIN: i64 = 1;
    const SESSION: i64 = -3;
    let (kind, name) = (word("user"), word(description));
    let length = i64::try_from(content.len()).unwrap_or_default();
    // SAFETY: words end in NUL, the content is as long as said.
    unsafe {
        say("key.joined", result(syscall(number::KEYCTL, JOIN, 0_i64)));
        let added = syscall(number::ADD_KEY, kind.as_ptr(), name.as_ptr(), content.as_ptr(), length, SESSION);
        say("key.added", result(added));
    }
    if let [program, words @ ..] = program {
        let cause = Command::new(program).args(words).exec();
        say("key.program", error(&cause));
    }
}

/// An inherited descriptor, opened anew for more than it was opened for.
pub(crate) fn reopen(descriptor: &str) {
    let path = format!("/proc/self/fd/{descriptor}");
    say("reopen.link", fs::read_link(&path).unwrap_or_default().display());
    for (name, read, written) in [("read", true, false), ("write", false, true), ("both", true, true)] {
        let opened = OpenOptions::new().read(read).write(written).open(&path);
        say(format_args!("reopen.{name}"), opened.map_or_else(|cause| error(&cause), |_| "ok".to_owned()));
    }
}

/// Attributes that stay with a file: those of ioctl_iflags(2).
pub(crate) fn flags(path: &str) {
    const SET_FLAGS: c_ulong = 0x4008_6602;
    static APPEND: c_long = 0x20;
    let became = File::open(path).map_or_else(
        |cause| error(&cause),
        // SAFETY: the argument is a pointer to a number.
        |file| apart(|| unsafe { c_long::from(ioctl(file.as_raw_fd(), SET_FLAGS, &raw const APPEND)) }),
    );
    say("flags.set", became);
}
