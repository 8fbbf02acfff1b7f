//! What becomes of every system call: filters, missing rights and the kernel's configuration show in the error.
//!
//! Every number is called with arguments that no call can do anything with, all bits set and no bit set; what is
//! carried out with those (`fork`, `exit`) is harmless in a process of its own. Calls that filters judge by an argument
//! follow with those arguments.

use crate::kernel::{apart, syscall};
use crate::say;
use std::ffi::c_long;

/// Above every number that is given out.
const NUMBERS: std::ops::Range<c_long> = 0..480;
/// rt_sigreturn(2), which takes from the stack whatever is there.
#[cfg(target_arch = "x86_64")]
const RETURN_FROM_SIGNAL: c_long = 15;
#[cfg(target_arch = "aarch64")]
const RETURN_FROM_SIGNAL: c_long = 139;
/// The bit of a number in the x32 ABI.
const X32: c_long = 0x4000_0000;

#[cfg(target_arch = "x86_64")]
mod numbers {
    pub(super) const CLONE: i64 = 56;
    pub(super) const SOCKET: i64 = 41;
    pub(super) const PERSONALITY: i64 = 135;
    pub(super) const PTRACE: i64 = 101;
    pub(super) const KEYCTL: i64 = 250;
    pub(super) const UNSHARE: i64 = 272;
}

#[cfg(target_arch = "aarch64")]
mod numbers {
    pub(super) const CLONE: i64 = 220;
    pub(super) const SOCKET: i64 = 198;
    pub(super) const PERSONALITY: i64 = 92;
    pub(super) const PTRACE: i64 = 117;
    pub(super) const KEYCTL: i64 = 219;
    pub(super) const UNSHARE: i64 = 97;
}

use numbers::{CLONE, KEYCTL, PERSONALITY, PTRACE, SOCKET, UNSHARE};

/// A namespace of each type, by the flag of clone(2).
const SPACES: [(&str, c_long); 8] = [
    ("time", 0x80),
    ("mount", 0x0002_0000),
    ("cgroup", 0x0200_0000),
    ("uts", 0x0400_0000),
    ("ipc", 0x0800_0000),
    ("user", 0x1000_0000),
    ("pid", 0x2000_0000),
    ("network", 0x4000_0000),
];

/// `SIGCHLD`, with which clone(2) is fork(2).
const CHILD: c_long = 17;

pub(crate) fn all() {
    for number in NUMBERS.filter(|number| *number != RETURN_FROM_SIGNAL) {
        say(format_args!("call.{number}.ones"), raw(number, [-1; 6]));
        say(format_args!("call.{number}.zeros"), raw(number, [0; 6]));
    }
    for number in [0, 1, 16, 39, 101] {
        say(format_args!("x32.{number}"), raw(X32 | number, [-1; 6]));
    }
    for (name, flag) in SPACES {
        say(format_args!("unshare.{name}"), raw(UNSHARE, [flag, 0, 0, 0, 0, 0]));
        say(format_args!("clone.{name}"), raw(CLONE, [flag | CHILD, 0, 0, 0, 0, 0]));
    }
    for family in 0..46 {
        for kind in [1, 2, 3] {
            say(format_args!("socket.{family}.{kind}"), raw(SOCKET, [family, kind, 0, 0, 0, 0]));
        }
    }
    // NETLINK_AUDIT and its neighbours.
    for protocol in 0..23 {
        say(format_args!("netlink.{protocol}"), raw(SOCKET, [16, 3, protocol, 0, 0, 0]));
    }
    for personality in [0, 8, 0x2_0000, 0x2_0008, 0x4_0000, 0x80_0000, 0xffff_ffff] {
        say(format_args!("personality.{personality:x}"), raw(PERSONALITY, [personality, 0, 0, 0, 0, 0]));
    }
    for request in [0, 2, 16, 0x4206] {
        say(format_args!("ptrace.{request}"), raw(PTRACE, [request, 0, 0, 0, 0, 0]));
    }
    for operation in 0..33 {
        say(format_args!("keyctl.{operation}"), raw(KEYCTL, [operation, 0, 0, 0, 0, 0]));
    }
}

fn raw(number: c_long, args: [c_long; 6]) -> String {
    let [a, b, c, d, e, f] = args;
    // SAFETY: in a process that ends right after; no argument is a pointer to anything of it.
    apart(|| unsafe { syscall(number, a, b, c, d, e, f) })
}
