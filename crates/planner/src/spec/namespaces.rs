//! Namespaces and what belongs to them: the host name and the kernel's settings.

use crate::error::Reason;
use flake_plan::{Namespaces, Sysctl};
use oci_spec::runtime::{LinuxNamespace, LinuxNamespaceType as Kind};
use std::collections::HashMap;
use std::path::PathBuf;

/// The namespaces of a specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spaces {
    /// Those that the recipe lists.
    pub(crate) made: Namespaces,
    /// There is one of users.
    pub(crate) user: bool,
}

/// Reads the list.
pub(crate) fn namespaces(list: &[LinuxNamespace]) -> Result<Spaces, Reason> {
    let mut spaces = Spaces::default();
    let (mut has_mounts, mut has_processes) = (false, false);
    for namespace in list {
        let is_joined = namespace.path().as_ref().is_some_and(|path| !path.as_os_str().is_empty());
        let found = match namespace.typ() {
            Kind::Network if is_joined => return Err("a private network".into()),
            kind if is_joined => return Err(format!("a namespace of others (type {kind})").into()),
            Kind::Network => &mut spaces.made.network,
            Kind::Ipc => &mut spaces.made.ipc,
            Kind::Uts => &mut spaces.made.uts,
            Kind::Cgroup => &mut spaces.made.cgroup,
            Kind::User => &mut spaces.user,
            Kind::Mount => &mut has_mounts,
            Kind::Pid => &mut has_processes,
            kind => return Err(Reason::unknown(format_args!("a namespace of type {kind}"))),
        };
        *found = true;
    }
    if !has_processes {
        return Err("--pid=host".into());
    }
    if !has_mounts {
        return Err("a specification without a namespace of mounts".into());
    }
    Ok(spaces)
}

/// Mounts never reach the host. That the host's reach the root says nothing by itself: podman writes it where a mount
/// is to be so, and for devices of a user's.
pub(crate) fn check_propagation(propagation: Option<&str>) -> Result<(), Reason> {
    match propagation.unwrap_or_default() {
        "" | "private" | "rprivate" | "slave" | "rslave" => Ok(()),
        other => Err(format!("mounts that the host sees ({other})").into()),
    }
}

/// The host name, which can only be set in a namespace.
pub(crate) fn hostname(name: Option<&str>, has_namespace: bool) -> Result<Option<String>, Reason> {
    match name.filter(|name| has_namespace && !name.is_empty()) {
        None => Ok(None),
        // The kernel's bound (sethostname(2)).
        Some(name) if name.len() > 64 => Err("a host name of more than 64 bytes".into()),
        Some(name) => Ok(Some(name.to_owned())),
    }
}

/// The kernel's settings, in the order of their names.
pub(crate) fn sysctls(settings: Option<&HashMap<String, String>>) -> Result<Vec<Sysctl>, Reason> {
    let mut found = Vec::new();
    for (name, value) in settings.into_iter().flatten() {
        let is_plain = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        };
        if !name.split('.').all(is_plain) {
            return Err(Reason::unknown(format_args!("the kernel setting {name}")));
        }
        found.push(Sysctl { path: PathBuf::from(name.replace('.', "/")), value: value.clone() });
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}
