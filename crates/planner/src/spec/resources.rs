//! Control groups: the runner has none, so only what needs none goes its way.

use crate::error::Reason;
use oci_spec::runtime::LinuxResources;

/// What podman sets when nothing is said: a bound for runaway processes, not a limit of the application's.
const PIDS_LIMIT: i64 = 2048;

/// Passes podman's default limit of processes and the rule that no device can be used: every mount is without
/// devices. Devices that are allowed beside it are among the specification's.
pub(crate) fn check(resources: Option<&LinuxResources>) -> Result<(), Reason> {
    let Some(resources) = resources else { return Ok(()) };
    let limit = resources.pids().as_ref().map_or(0, |pids| pids.limit());
    if limit > 0 && limit != PIDS_LIMIT {
        return Err(format!("a limit of resources (pids.limit {limit})").into());
    }
    for rule in resources.devices().iter().flatten() {
        // A whole class of devices is no list of files that could be mounted.
        if rule.allow() && (rule.major().is_none() || rule.minor().is_none()) {
            return Err("a rule that allows a class of devices".into());
        }
    }
    Ok(())
}
