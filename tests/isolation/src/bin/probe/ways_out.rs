//! Ways out of a root, and into its other processes.

use crate::kernel::{apart, chroot, error, fchdir, kill, mknod, ptrace, result, setns, syscall, word};
use crate::{number, say};
use std::ffi::c_long;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::ptr;

/// Modes of mknod(2).
const BLOCK: u32 = 0o060_000;
const CHARACTER: u32 = 0o020_000;

/// Two roots, one in the other, and a descriptor of the outer one: the way up does not end at the inner. What is in the
/// last folder above is said.
pub(crate) fn climb() {
    let inner = "/tmp/flake-climb";
    let _ = fs::create_dir(inner);
    let Ok(outside) = File::open("/") else { return say("climb", "no root") };
    let inner = word(inner);
    // SAFETY: words end in NUL.
    unsafe {
        say("climb.chroot", result(c_long::from(chroot(inner.as_ptr()))));
        say("climb.out", result(c_long::from(fchdir(outside.as_raw_fd()))));
        for _ in 0..64 {
            let _ = std::env::set_current_dir("..");
        }
        let here = word(".");
        say("climb.again", result(c_long::from(chroot(here.as_ptr()))));
    }
    let mut names: Vec<_> = fs::read_dir("/")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    say("climb.names", names.join(" "));
}

/// Device files: made, and opened.
pub(crate) fn devices(folders: &[&str]) {
    let all = [
        ("disk", BLOCK, 254, 0),
        ("scsi", BLOCK, 8, 0),
        ("loop", BLOCK, 7, 0),
        ("memory", CHARACTER, 1, 1),
        ("kmsg", CHARACTER, 1, 11),
        ("null", CHARACTER, 1, 3),
    ];
    for folder in folders {
        for (name, kind, major, minor) in all {
            let path = format!("{folder}/flake-{name}");
            let path_word = word(&path);
            // SAFETY: the word ends in NUL.
            let made = unsafe { mknod(path_word.as_ptr(), kind | 0o666, major << 8 | minor) };
            say(format_args!("make.{name}.{folder}"), result(c_long::from(made)));
            open(&format!("use.{name}.{folder}"), &path);
            let _ = fs::remove_file(&path);
        }
    }
}

/// What is dangerous in every file system of processes that is mounted anywhere.
pub(crate) fn kernels_files() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for line in mounts.lines().filter(|line| line.contains(" - proc ")) {
        let fields: Vec<&str> = line.split(' ').collect();
        if let [_, _, _, "/", place, ..] = fields[..] {
            for name in ["kcore", "sysrq-trigger", "sys/kernel/core_pattern", "sys/kernel/modprobe"] {
                open(&format!("kernel.{place}.{name}"), &format!("{place}/{name}"));
            }
        }
    }
    say("kernel.mounts", mounts.lines().count());
}

/// Reads a byte, and opens for writing.
pub(crate) fn open(name: &str, path: &str) {
    let read = File::open(path).and_then(|mut file| file.read(&mut [0; 16]));
    say(format_args!("{name}.read"), read.map_or_else(|cause| error(&cause), |count| format!("ok {count}")));
    let write = OpenOptions::new().write(true).open(path);
    say(format_args!("{name}.write"), write.map_or_else(|cause| error(&cause), |_| "ok".to_owned()));
}

/// Every door into another process: what `/proc/PID` has of it, ptrace(2), its memory, its namespaces, its descriptors.
pub(crate) fn process(pid: &str) {
    let number: i32 = pid.parse().unwrap_or_default();
    for name in ["exe", "root", "cwd"] {
        let path = format!("/proc/{pid}/{name}");
        let target = fs::read_link(&path);
        say(
            format_args!("{name}.link"),
            target.map_or_else(|cause| error(&cause), |path| path.display().to_string()),
        );
        open(name, &path);
    }
    for name in ["root/etc", "cwd/..", "fd", "map_files", "task/1/cwd"] {
        let names = fs::read_dir(format!("/proc/{pid}/{name}"))
            .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
            .map(|names| names.len());
        say(
            format_args!("{name}.names"),
            names.map_or_else(|cause| error(&cause), |count| format!("ok {count}")),
        );
    }
    for descriptor in 0..8 {
        open(&format!("fd.{descriptor}"), &format!("/proc/{pid}/fd/{descriptor}"));
    }
    for name in ["mem", "environ", "maps", "auxv", "syscall", "stack", "pagemap", "attr/current", "attr/exec"]
    {
        open(name, &format!("/proc/{pid}/{name}"));
    }
    for name in ["user", "mnt", "pid", "net", "uts", "ipc", "cgroup"] {
        let path = format!("/proc/{pid}/ns/{name}");
        let opened = File::open(path);
        // SAFETY: a descriptor, in a process that ends right after.
        let became = opened.map_or_else(
            |cause| error(&cause),
            |file| apart(|| unsafe { c_long::from(setns(file.as_raw_fd(), 0)) }),
        );
        say(format_args!("join.{name}"), became);
    }
    // SAFETY: no pointer of this process is followed.
    unsafe {
        for (name, request) in [("attach", 16), ("seize", 0x4206)] {
            let call = || ptrace(request, number, ptr::null_mut(), ptr::null_mut());
            say(format_args!("ptrace.{name}"), apart(call));
        }
        let mut bytes = [0_u8; 8];
        let (own, other) = ([bytes.as_mut_ptr() as u64, 8], [0x0040_0000_u64, 8]);
        let call = || {
            syscall(number::READ_MEMORY, i64::from(number), own.as_ptr(), 1_i64, other.as_ptr(), 1_i64, 0_i64)
        };
        say("memory", apart(call));
        // pidfd_open(2), pidfd_getfd(2): the same numbers everywhere.
        say(
            "descriptor",
            apart(|| {
                let opened = syscall(434, i64::from(number), 0_i64);
                if opened < 0 {
                    return opened;
                }
                syscall(438, opened, 0_i64, 0_i64)
            }),
        );
    }
}

/// All signals to a process, also such as claim to be from elsewhere.
pub(crate) fn signals(pid: &str) {
    let number: i32 = pid.parse().unwrap_or_default();
    for signal in 1..=64 {
        // SAFETY: plain numbers; the structure is as long as the kernel's.
        unsafe {
            say(format_args!("signal.{signal}"), result(c_long::from(kill(number, signal))));
            // siginfo_t of sigaction(2): number, error, code (SI_QUEUE), padding, sender's pid and uid, value.
            let mut info = [0_i32; 32];
            (info[0], info[2]) = (signal, -1);
            info[6] = 15;
            let sent = syscall(number::QUEUE_SIGNAL, i64::from(number), i64::from(signal), info.as_ptr());
            say(format_args!("signal.{signal}.claimed"), result(sent));
        }
    }
    say(
        "signals.after",
        fs::read_link(format!("/proc/{pid}"))
            .map_or_else(|_| fs::metadata(format!("/proc/{pid}")).map_or("gone", |_| "there"), |_| "there"),
    );
}
