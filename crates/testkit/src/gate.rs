//! What a machine must have for the tests, and how to say that it is absent.

use std::fs;
use std::path::{Path, PathBuf};

use crate::podman_conf;

/// `CAP_SYS_ADMIN`, the capability that mounting needs.
const SYS_ADMIN: u32 = 21;

/// Programs a scratch host calls, with the Debian package of each.
const PROGRAMS: [(&str, &str); 11] = [
    ("/bin/busybox", "busybox-static"),
    ("/usr/bin/bash", "bash"),
    ("/usr/bin/podman", "podman"),
    ("/usr/bin/setpriv", "util-linux"),
    ("/usr/bin/setsid", "util-linux"),
    ("/usr/bin/sudo", "sudo"),
    ("/usr/bin/newuidmap", "uidmap"),
    ("/usr/bin/newgidmap", "uidmap"),
    ("/usr/bin/slirp4netns", "slirp4netns"),
    ("/usr/lib/podman/netavark", "netavark"),
    ("/usr/sbin/iptables", "iptables"),
];

/// Says why this machine cannot have a scratch host, or nothing when it can.
#[must_use]
pub fn missing() -> Option<String> {
    if !capable(SYS_ADMIN) {
        return Some("needs root with CAP_SYS_ADMIN".to_owned());
    }
    for (program, package) in PROGRAMS {
        if !Path::new(program).exists() {
            return Some(format!("needs {program}: apt-get install {package}"));
        }
    }
    if !podman_conf::unified_cgroups() && !Path::new("/usr/sbin/runc").exists() {
        return Some(
            "needs runc, since this host has version 1 control groups: apt-get install runc".to_owned(),
        );
    }
    if !knows_overlay() {
        return Some("needs a kernel with overlay file systems".to_owned());
    }
    None
}

/// The directory of test data, `FLAKE_TEST_DATA` or `../shared/data` beside the workspace.
///
/// # Errors
///
/// The reason to skip a test when it is absent.
pub fn test_data() -> Result<PathBuf, String> {
    let dir = std::env::var_os("FLAKE_TEST_DATA")
        .map_or_else(|| crate::product::workspace().join("../shared/data"), PathBuf::from);
    if dir.is_dir() {
        Ok(dir)
    } else {
        Err(format!("needs test data in {} (FLAKE_TEST_DATA)", dir.display()))
    }
}

/// Whether this process has capability number `bit`.
pub(crate) fn capable(bit: u32) -> bool {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
            u64::from_str_radix(mask.trim(), 16).ok()
        })
        .is_some_and(|mask| mask >> bit & 1 == 1)
}

fn knows_overlay() -> bool {
    let listed = || fs::read_to_string("/proc/filesystems").is_ok_and(|list| list.contains("\toverlay\n"));
    listed() || {
        let _ = std::process::Command::new("modprobe").arg("overlay").status();
        listed()
    }
}
