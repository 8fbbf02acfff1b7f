//! Hosts on which podman's own defaults do not work: version 1 control groups, which crun refuses, or no
//! right to raise limits, which the default ulimits need.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Bit of `CAP_SYS_RESOURCE` in a capability set (capabilities(7)).
const SYS_RESOURCE: u64 = 1 << 24;

/// Writes a configuration that works here, if the host is odd and nobody has chosen one.
pub(crate) fn containers_conf(folder: &Path) -> Result<Option<PathBuf>> {
    if std::env::var_os("CONTAINERS_CONF").is_some() {
        return Ok(None);
    }
    let has_unified_cgroups = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
    let is_systemd = Path::new("/run/systemd/system").exists();
    let is_limited = is_root() && !can_raise_limits();
    if has_unified_cgroups && is_systemd && !is_limited {
        return Ok(None);
    }
    let mut text = String::new();
    if is_limited {
        text.push_str("[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n");
    }
    text.push_str("[engine]\n");
    if !has_unified_cgroups {
        text.push_str("runtime = \"runc\"\n");
    }
    text.push_str("cgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n");
    text.push_str("[network]\nnetwork_backend = \"netavark\"\n");
    let file = folder.join("containers.conf");
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Some(file))
}

fn is_root() -> bool {
    effective("Uid:").is_some_and(|fields| fields.get(1).is_some_and(|uid| uid == "0"))
}

fn can_raise_limits() -> bool {
    let set = effective("CapEff:").and_then(|fields| u64::from_str_radix(fields.first()?, 16).ok());
    set.is_some_and(|set| set & SYS_RESOURCE != 0)
}

/// The fields of a line of this process' status.
fn effective(line: &str) -> Option<Vec<String>> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let found = status.lines().find_map(|found| found.strip_prefix(line))?;
    Some(found.split_whitespace().map(str::to_owned).collect())
}
