//! Names of the kernel's numbers.

/// Capabilities by their numbers (linux/capability.h).
const CAPABILITIES: [&str; 41] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
];

/// Limited resources by their numbers (asm-generic/resource.h).
const RESOURCES: [&str; 16] = [
    "cpu",
    "fsize",
    "data",
    "stack",
    "core",
    "rss",
    "nproc",
    "nofile",
    "memlock",
    "as",
    "locks",
    "sigpending",
    "msgqueue",
    "nice",
    "rtprio",
    "rttime",
];

/// The names in a set of capabilities.
pub(super) fn capabilities(set: u64) -> String {
    let names = (0..64_usize).filter(|bit| set >> bit & 1 == 1).map(|bit| match CAPABILITIES.get(bit) {
        Some(name) => (*name).to_owned(),
        None => bit.to_string(),
    });
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" ") }
}

/// The name of a resource.
pub(super) fn resource(number: u32) -> String {
    let index = usize::try_from(number).unwrap_or(usize::MAX);
    RESOURCES.get(index).map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

/// A limit's value.
pub(super) fn limit(value: u64) -> String {
    if value == u64::MAX { "unlimited".to_owned() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names() {
        assert_eq!(capabilities(1 << 21 | 1 << 40 | 1 << 50), "SYS_ADMIN CHECKPOINT_RESTORE 50");
        assert_eq!(capabilities(0), "none");
        assert_eq!((resource(7), resource(99)), ("nofile".to_owned(), "99".to_owned()));
    }
}
