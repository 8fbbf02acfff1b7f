//! Everything by which two places can be told apart.

use crate::kernel::{apart, prctl, syscall};
use crate::{devices, files, mounts, say};
use std::ffi::c_long;
use std::fs;
use std::path::Path;

/// Lines of `/proc/self/status` that are about what the process is and may.
const STATUS: [&str; 14] = [
    "Umask",
    "Uid",
    "Gid",
    "Groups",
    "NStgid",
    "SigBlk",
    "SigIgn",
    "CapInh",
    "CapPrm",
    "CapEff",
    "CapBnd",
    "CapAmb",
    "NoNewPrivs",
    "Seccomp",
];
/// Further ones that are compared under names of their own.
const MORE: [&str; 4] =
    ["Seccomp_filters", "Speculation_Store_Bypass", "Cpus_allowed_list", "Mems_allowed_list"];
/// Values of prctl(2) that can be asked for: name and operation.
const PROCESS: [(&str, i32); 7] = [
    ("pdeath_signal", 2),
    ("dumpable", 3),
    ("keep_caps", 7),
    ("secure_bits", 27),
    ("timer_slack", 30),
    ("child_subreaper", 37),
    ("thp_disable", 42),
];
/// Files of `/proc/self` with one value.
const OWN: [&str; 8] = [
    "attr/current",
    "oom_score_adj",
    "coredump_filter",
    "cgroup",
    "uid_map",
    "gid_map",
    "setgroups",
    "personality",
];
/// Folders of the kernel's settings.
const SETTINGS: [&str; 5] =
    ["/proc/sys/kernel", "/proc/sys/net", "/proc/sys/fs/mqueue", "/proc/sys/user", "/proc/sys/vm"];
/// Settings that change by themselves, or count.
const MOVING: [&str; 9] = [
    "random/uuid",
    "entropy_avail",
    "ns_last_pid",
    "pty/nr",
    "nf_conntrack_count",
    "stat_refresh",
    "dirty_",
    "route/flush",
    "compact_memory",
];
/// Everybody's places, and those by which others have got out.
const PLACES: [&str; 23] = [
    "/",
    "/run",
    "/run/.containerenv",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/resolv.conf",
    "/etc/passwd",
    "/etc/group",
    "/etc/localtime",
    "/etc/mtab",
    "/tmp",
    "/root",
    "/home",
    "/dev/shm",
    "/dev/mqueue",
    "/sys",
    "/sys/fs",
    "/sys/kernel",
    "/sys/firmware",
    "/sys/fs/cgroup",
    "/proc/fs",
    "/proc/bus",
    "/proc/scsi",
];
/// Places that are tried to be written to.
const WRITTEN: [&str; 22] = [
    "/",
    "/etc",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/resolv.conf",
    "/run",
    "/run/.containerenv",
    "/tmp",
    "/dev",
    "/dev/shm",
    "/dev/mqueue",
    "/proc",
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/drop_caches",
    "/proc/irq",
    "/proc/bus",
    "/sys",
    "/sys/fs/cgroup",
    "/sys/power/state",
];

pub(crate) fn all(paths: &[&str]) {
    status();
    limits();
    namespaces();
    process();
    surroundings();
    mounts::all();
    devices::all();
    for path in PLACES.iter().chain(paths) {
        files::look(path);
    }
    for path in WRITTEN.iter().chain(paths) {
        files::write(path);
    }
    for folder in SETTINGS {
        settings(Path::new(folder));
    }
}

fn status() {
    let text = files::content("/proc/self/status");
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        if STATUS.contains(&name) || MORE.contains(&name) {
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown = if name == "SigIgn" { without_librarys(&value) } else { value };
            say(format_args!("status.{name}"), shown);
        }
    }
}

/// A set of signals without 32 and 33, which are the C library's own, and out of anybody's reach.
fn without_librarys(set: &str) -> String {
    u64::from_str_radix(set, 16).map_or(set.to_owned(), |set| format!("{:x}", set & !(3 << 31)))
}

fn limits() {
    for line in files::content("/proc/self/limits").lines().skip(1) {
        let (name, values) = line.split_at(line.len().min(26));
        let values: Vec<_> = values.split_whitespace().take(2).collect();
        say(format_args!("limit.{}", name.trim_end().replace(' ', "_")), values.join(" "));
    }
}

/// Each as the kernel names it: the tests compare with the host's.
fn namespaces() {
    for entry in fs::read_dir("/proc/self/ns").into_iter().flatten().flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        say(format_args!("namespace.{}", entry.file_name().to_string_lossy()), target.display());
    }
}

fn process() {
    for (name, operation) in PROCESS {
        let mut value = 0_i32;
        // SAFETY: operations that write do so through the pointer, into a number; others ignore it.
        let answer = unsafe { prctl(operation, &raw mut value, 0_u64, 0_u64, 0_u64) };
        say(format_args!("process.{name}"), if answer == 0 { value } else { answer });
    }
    for name in OWN {
        say(format_args!("own.{name}"), files::content(&format!("/proc/self/{name}")));
    }
    let stat = files::content("/proc/self/stat");
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    // proc(5): the fields are counted from the state, the third.
    for (name, at) in [("priority", 15), ("nice", 16), ("realtime", 37), ("policy", 38)] {
        say(format_args!("process.{name}"), fields.get(at).unwrap_or(&""));
    }
    for descriptor in fs::read_dir("/proc/self/fd").into_iter().flatten().flatten() {
        let name = descriptor.file_name().to_string_lossy().into_owned();
        let target = fs::read_link(descriptor.path()).unwrap_or_default();
        let target = target.to_string_lossy().into_owned();
        // The folder that is being read.
        if !target.ends_with("/fd") {
            say(format_args!("descriptor.{name}"), target.split(':').next().unwrap_or(&target));
        }
    }
    say("keyring", keyring());
}

/// The session keyring (keyrings(7)): who has made it, and how many keys are linked to it.
fn keyring() -> String {
    const SESSION: c_long = -3;
    const DESCRIBE: c_long = 6;
    #[cfg(target_arch = "x86_64")]
    const KEYCTL: c_long = 250;
    #[cfg(target_arch = "aarch64")]
    const KEYCTL: c_long = 219;
    // SAFETY: without a buffer the length is said.
    let can = apart(|| unsafe { syscall(KEYCTL, DESCRIBE, SESSION, 0_i64, 0_i64, 0_i64, 0_i64) });
    if can != "ok" {
        return can;
    }
    let mut text = [0_u8; 200];
    // SAFETY: the buffer is as long as said.
    let length = unsafe { syscall(KEYCTL, DESCRIBE, SESSION, text.as_mut_ptr(), text.len(), 0_i64, 0_i64) };
    let text = &text[..usize::try_from(length).unwrap_or_default().min(text.len())];
    String::from_utf8_lossy(text).trim_end_matches('\0').to_owned()
}

fn surroundings() {
    for (name, value) in std::env::vars_os() {
        say(format_args!("env.{}", name.to_string_lossy()), value.to_string_lossy());
    }
    say("cwd", std::env::current_dir().unwrap_or_default().display());
    say("hostname", files::content("/proc/sys/kernel/hostname"));
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let count = processes.filter(|entry| entry.file_name().to_str().is_some_and(is_number)).count();
    // Podman's only process, and the one here beside its init.
    say("processes", count);
}

fn settings(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let shown = path.to_string_lossy().into_owned();
        if MOVING.iter().any(|moving| shown.contains(moving)) {
            continue;
        }
        if path.is_dir() {
            settings(&path);
        } else {
            say(format_args!("setting.{shown}"), files::content(&shown));
        }
    }
}
