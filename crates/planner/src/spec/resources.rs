//! Control groups: the runner has none, so only what needs none goes its way.

use crate::error::Reason;
use oci_spec::runtime::{LinuxDevice, LinuxPids, LinuxResources};

/// What podman sets when nothing is said: a bound for runaway processes, not a limit of the application's.
const PIDS_LIMIT: i64 = 2048;

/// Passes podman's default limit of processes and the rule that no device can be used: every mount is without
/// devices. Those that are allowed beside it have to be the specification's own `devices`, for everything.
pub(crate) fn check(resources: Option<&LinuxResources>, devices: &[LinuxDevice]) -> Result<(), Reason> {
    let Some(resources) = resources else { return Ok(()) };
    let limit = resources.pids().as_ref().map_or(0, LinuxPids::limit);
    if limit > 0 && limit != PIDS_LIMIT {
        return Err(format!("a limit of resources (pids.limit {limit})").into());
    }
    for rule in resources.devices().iter().flatten() {
        let numbers = (rule.major(), rule.minor());
        let has_file = devices.iter().any(|device| numbers == (Some(device.major()), Some(device.minor())));
        if rule.allow() && !(has_file && rule.access().as_deref() == Some("rwm")) {
            return Err("a rule about devices".into());
        }
    }
    Ok(())
}
