//! The words under which a process is listed, by `ps` for one (proc_pid_cmdline(5)).

use nix::libc;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Where the words of this process begin, and how long they are with the NUL bytes behind each.
static START: AtomicPtr<libc::c_char> = AtomicPtr::new(ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Lists the calling process under one word, cut where its own words end. They are gone then, also for
/// `std::env::args`: for a process that was forked to do something else.
pub fn set(word: &CStr) {
    let (start, length) = (START.load(Ordering::Relaxed), LENGTH.load(Ordering::Relaxed));
    if start.is_null() || length == 0 {
        return;
    }
    let bytes = word.to_bytes();
    let kept = bytes.len().min(length - 1);
    // SAFETY: the kernel laid the words out in one piece of that length, which is the process' own to write to; nothing
    // holds a reference to it.
    unsafe {
        ptr::write_bytes(start, 0, length);
        ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast(), kept);
        libc::prctl(libc::PR_SET_NAME, word.as_ptr());
    }
}

extern "C" fn record(count: libc::c_int, words: *const *mut libc::c_char) {
    let Some(last) = usize::try_from(count).ok().and_then(|count| count.checked_sub(1)) else { return };
    // SAFETY: the loader passes what the kernel made: `count` pointers to strings, one after the other.
    unsafe {
        let (start, end) = (*words, *words.add(last));
        let Ok(length) = usize::try_from(end.offset_from(start)) else { return };
        START.store(start, Ordering::Relaxed);
        LENGTH.store(length + libc::strlen(end) + 1, Ordering::Relaxed);
    }
}

// SAFETY: the C library calls the functions of this section one after the other before `main`, with the words of the
// process; this one reads those and stores to atomics only.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn(libc::c_int, *const *mut libc::c_char) = record;
