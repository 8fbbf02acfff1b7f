//! Mounts, and the namespaces in which one may have some.

use crate::kernel::{apart, error, mount, result, syscall, umount2, unshare, word};
use crate::{number, say};
use std::ffi::{c_long, c_ulong};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::ptr;

/// Flags of mount(2) and umount2(2).
const REMOUNT: c_ulong = 32;
const BIND: c_ulong = 4096;
const MOVE: c_ulong = 8192;
const DETACH: i32 = 2;
/// Flags of unshare(2).
const USER: i32 = 0x1000_0000;
const MOUNTS: i32 = 0x0002_0000;
const PROCESSES: i32 = 0x2000_0000;

/// What mount(2) and its younger relatives do to the places that are there.
pub(crate) fn mounts(places: &[&str]) {
    let (nothing, root, temporary) = (word("none"), word("/"), word("/tmp"));
    let memory = word("tmpfs");
    for kind in ["tmpfs", "proc", "sysfs", "devtmpfs", "cgroup2", "overlay", "devpts", "ext4"] {
        let kind_word = word(kind);
        // SAFETY: words end in NUL; no data.
        let call = || unsafe {
            c_long::from(mount(nothing.as_ptr(), temporary.as_ptr(), kind_word.as_ptr(), 0, ptr::null()))
        };
        say(format_args!("mount.new.{kind}"), apart(call));
    }
    for place in places {
        let place_word = word(place);
        let at = place_word.as_ptr();
        // SAFETY: words end in NUL; no data.
        unsafe {
            let call = || c_long::from(mount(nothing.as_ptr(), at, ptr::null(), REMOUNT | BIND, ptr::null()));
            say(format_args!("mount.writable.{place}"), apart(call));
            let call = || c_long::from(mount(nothing.as_ptr(), at, memory.as_ptr(), REMOUNT, ptr::null()));
            say(format_args!("mount.again.{place}"), apart(call));
            let call = || c_long::from(mount(at, temporary.as_ptr(), ptr::null(), BIND, ptr::null()));
            say(format_args!("mount.bind.{place}"), apart(call));
            let call = || c_long::from(mount(at, temporary.as_ptr(), ptr::null(), MOVE, ptr::null()));
            say(format_args!("mount.move.{place}"), apart(call));
            say(format_args!("unmount.{place}"), apart(|| c_long::from(umount2(at, DETACH))));
            // open_tree(2) with a copy, fspick(2), mount_setattr(2), which have the same number everywhere.
            say(format_args!("mount.copy.{place}"), apart(|| syscall(428, -100_i64, at, 1_i64)));
            say(format_args!("mount.pick.{place}"), apart(|| syscall(433, -100_i64, at, 0_i64)));
            let nothing_set = [0_u64, 1, 0, 0];
            let call = || syscall(442, -100_i64, at, 0_i64, nothing_set.as_ptr(), 32_i64);
            say(format_args!("mount.attributes.{place}"), apart(call));
        }
    }
    // SAFETY: words end in NUL.
    unsafe {
        say("mount.open", apart(|| syscall(430, memory.as_ptr(), 0_i64)));
        say("pivot_root", apart(|| syscall(number::PIVOT_ROOT, root.as_ptr(), root.as_ptr())));
    }
}

/// Namespaces of one's own, in whose root there is a right to mount: what is done to the places that were there.
pub(crate) fn namespaces(places: &[&str]) {
    // SAFETY: in a process that ends right after.
    say("unshare.user", apart(|| unsafe { c_long::from(unshare(USER)) }));
    // SAFETY: this process has one thread.
    let user = fs::metadata("/proc/self").map_or(0, |found| found.uid());
    // SAFETY: as above.
    say("unshare.mounts", result(unsafe { c_long::from(unshare(USER | MOUNTS | PROCESSES)) }));
    // Else executing a program would take the rights away.
    let mapped = fs::write("/proc/self/uid_map", format!("0 {user} 1"));
    say("unshare.map", mapped.map_or_else(|cause| error(&cause), |()| "ok".to_owned()));
    // The next process is the first of the namespace: only there are its processes seen.
    let Ok(program) = std::env::current_exe() else { return };
    match Command::new(program).args(["try", "mounts"]).args(places).output() {
        Ok(output) => {
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                println!("nested.{line}");
            }
        }
        Err(cause) => say("nested", error(&cause)),
    }
}
