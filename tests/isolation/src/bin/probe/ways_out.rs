//! Ways out of a root, out of its namespaces, and into its other processes.

use crate::kernel::{
    apart, chroot, error, fchdir, kill, mknod, mount, ptrace, result, setns, syscall, umount2, unshare, word,
};
use crate::say;
use std::ffi::{c_long, c_ulong};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
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
/// Modes of mknod(2).
const BLOCK: u32 = 0o060_000;
const CHARACTER: u32 = 0o020_000;
/// Flags of open(2) that the standard library has no words for.
const PATH: i32 = 0o10_000_000;

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

mod number {
    #[cfg(target_arch = "x86_64")]
    pub(super) const PIVOT_ROOT: i64 = 155;
    #[cfg(target_arch = "aarch64")]
    pub(super) const PIVOT_ROOT: i64 = 41;
    #[cfg(target_arch = "x86_64")]
    pub(super) const NAME_TO_HANDLE: i64 = 303;
    #[cfg(target_arch = "aarch64")]
    pub(super) const NAME_TO_HANDLE: i64 = 264;
    #[cfg(target_arch = "x86_64")]
    pub(super) const OPEN_BY_HANDLE: i64 = 304;
    #[cfg(target_arch = "aarch64")]
    pub(super) const OPEN_BY_HANDLE: i64 = 265;
    #[cfg(target_arch = "x86_64")]
    pub(super) const READ_MEMORY: i64 = 310;
    #[cfg(target_arch = "aarch64")]
    pub(super) const READ_MEMORY: i64 = 270;
    #[cfg(target_arch = "x86_64")]
    pub(super) const QUEUE_SIGNAL: i64 = 129;
    #[cfg(target_arch = "aarch64")]
    pub(super) const QUEUE_SIGNAL: i64 = 138;
    #[cfg(target_arch = "x86_64")]
    pub(super) const ADD_KEY: i64 = 248;
    #[cfg(target_arch = "aarch64")]
    pub(super) const ADD_KEY: i64 = 217;
    #[cfg(target_arch = "x86_64")]
    pub(super) const KEYCTL: i64 = 250;
    #[cfg(target_arch = "aarch64")]
    pub(super) const KEYCTL: i64 = 219;
}

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

/// Attributes that stay with a file: those of ioctl_iflags(2), on a file below a folder.
pub(crate) fn flags(path: &str) {
    const SET_FLAGS: c_ulong = 0x4008_6602;
    const APPEND: c_long = 0x20;
    let opened = OpenOptions::new().read(true).custom_flags(0).open(path);
    let became = opened.map_or_else(
        |cause| error(&cause),
        |file| {
            // SAFETY: the argument is a pointer to a number.
            apart(|| unsafe {
                c_long::from(crate::kernel::ioctl(file.as_raw_fd(), SET_FLAGS, &raw const APPEND_FLAG))
            })
        },
    );
    static APPEND_FLAG: c_long = APPEND;
    say("flags.set", became);
    let path_only = OpenOptions::new().read(true).custom_flags(PATH).open(path);
    say("flags.path", path_only.map_or_else(|cause| error(&cause), |_| "ok".to_owned()));
}
