//! The differences that have a reason.

use std::path::Path;

/// A difference that has a reason. All but the reason are patterns: `*` stands for anything, `|` for one or another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    /// The comparisons, named `way::person`. In each of them it has to be.
    pub(super) where_: &'static str,
    /// The machines.
    pub(super) on: On,
    /// The rows.
    pub(super) row: &'static str,
    /// What podman has there; `-` where the row is missing.
    pub(super) podman: &'static str,
    /// What the launcher has there.
    pub(super) launcher: &'static str,
    /// Why that is as it should be.
    pub(super) why: &'static str,
}

/// Machines on which something is different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    /// All.
    Any,
    /// Those with version 1 control groups.
    OldGroups,
}

impl On {
    pub(super) fn is_here(self) -> bool {
        self == On::Any || !Path::new("/sys/fs/cgroup/cgroup.controllers").exists()
    }
}

/// Further on any machine.
const fn any(
    where_: &'static str,
    row: &'static str,
    (podman, launcher): (&'static str, &'static str),
    why: &'static str,
) -> Allowed {
    Allowed { where_, on: On::Any, row, podman, launcher, why }
}

/// Further on machines with version 1 control groups.
const fn old(
    where_: &'static str,
    row: &'static str,
    (podman, launcher): (&'static str, &'static str),
    why: &'static str,
) -> Allowed {
    Allowed { where_, on: On::OldGroups, row, podman, launcher, why }
}

/// Of what a process finds around it.
pub(super) const FACTS: &[Allowed] = &[
    any("*", "status.NStgid", ("1", "2"), "the first process is the launcher's init"),
    any("*", "processes", ("1", "2"), "the first process is the launcher's init"),
    any("*", "keyring", ("*;_ses.*", "*;_ses"), "a new session keyring needs no name"),
    any("*::caller", "env.USER|env.LOGNAME", ("-", "root|ada"), "the application is the caller"),
    any(
        "rootless::caller|system::caller",
        "content./etc/passwd",
        ("*:*:*", "*:x:4242*"),
        "the launcher's word for a password",
    ),
    any(
        "rootless::caller|system::caller",
        "content./etc/group",
        ("*:ada\\n", "*:\\n"),
        "a group's own user is no member",
    ),
    any(
        "rootless::caller|system::caller",
        "path./dev/mqueue|device./dev/mqueue.owner",
        ("*0:4242", "*0:0"),
        "made before there is a group",
    ),
    any("*", "mount.*.source", ("*", "none"), "a file system without a device has any name"),
    any("*", "mount.*.flag.nodev", ("-", "set"), "no device works on a mount that is none itself"),
    any("*", "mount./.option.lowerdir*", ("-|...", "-|..."), "layers are named one by one"),
    any("*", "mount./.option.fsync", ("volatile", "-"), "memory is never written to a disk"),
    any("*", MASKS_FLAGS, ("-", "set"), "there is nothing in what covers a folder"),
    any(
        "*",
        MASKS_OPTIONS,
        ("-|", "-||755"),
        "the mount is read-only, whether the empty file system is or not",
    ),
    any(
        "*",
        "path./proc/acpi|path./sys/*",
        ("folder 1777 *", "folder 755 *"),
        "what covers a folder is closed",
    ),
    any("*", OWN_FILES, ("*", "-"), "podman's files are the root's own, which goes with the call"),
    any(
        "rootless::*|system::*",
        "mount.*.propagation",
        ("master", ""),
        "later mounts of the host are not seen",
    ),
    old("*", "write./sys/fs/cgroup", ("*", "errno 30"), "control groups cannot be written to"),
    old("rootful::*", "own.cgroup", ("*libpod*", "*"), "no control group of its own"),
    old("rootful::*", "mount./sys/fs/cgroup*", ("*", "-|set|none"), "the folder of control groups is empty"),
    old("rootful::*", "names./sys/fs/cgroup", ("*", ""), "the folder of control groups is empty"),
    old(
        "rootful::*",
        "path./sys/fs/cgroup",
        ("folder 555 *", "folder 755 *"),
        "the folder of control groups is empty",
    ),
    any("rootful::*", DEVICES, ("-", "*"), "each device is a mount, so that nothing else is one"),
    any("rootful::*", MASKED_FILES, ("*", "*"), "what covers a file is a device of its own"),
    any(
        "rootless::caller|system::caller",
        "mount./dev/shm.option.*|mount./home/ada.option.*",
        ("4242", "10000000"),
        "made by the root inside",
    ),
    any(
        "rootless::*|system::*",
        "mount./sys/fs/cgroup*.flag.*|mount./sys/kernel/*.flag.r*",
        ("*", "*"),
        "what is below a read-only mount is read-only, and closed as it is",
    ),
];

const MASKS_FLAGS: &str = "mount./proc/acpi.flag.no*|mount./sys/*.flag.no*";
const MASKS_OPTIONS: &str = "mount./proc/acpi.option.*|mount./sys/*.option.*";
const MASKED_FILES: &str = "mount./proc/*.flag.relatime|mount./proc/*.option.*";
const DEVICES: &str = "mount./dev/null.*|mount./dev/zero.*|mount./dev/full.*|mount./dev/random.*\
    |mount./dev/urandom.*|mount./dev/tty.*";
const OWN_FILES: &str = "mount./etc/hostname.*|mount./etc/hosts.*|mount./etc/localtime.*\
    |mount./etc/resolv.conf.*|mount./run/.containerenv.*";

/// Of what becomes of system calls.
pub(super) const CALLS: &[Allowed] = &[any(
    "rootless::*|system::*",
    "call.91.zeros|call.93.zeros|call.261.zeros|call.280.zeros",
    ("ok", "errno 1|errno 13"),
    "standard input is the caller's own, and belongs to whoever made it",
)];
