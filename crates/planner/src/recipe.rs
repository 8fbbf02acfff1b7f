//! From what was read to a recipe. Where something stands in the way, its name is the reason.

use crate::accounts;
use crate::captured::Captured;
use crate::error::Reason;
use crate::layers::layers;
use crate::seccomp;
use crate::spec::process::Place;
use crate::spec::{devices, known, mounts, namespaces, process, resources};
use crate::upper::Upper;
use crate::users::user_space;
use flake_plan::Recipe;
use oci_spec::runtime::Spec;
use std::path::{Path, PathBuf};

/// `CAP_SYS_ADMIN`. With it, or without a filter of system calls, programs of a user's may mount something inside.
const SYS_ADMIN: u64 = 1 << 21;

/// Turns podman's specification into a recipe. A call without words of its own runs `command`; the command is to be
/// `caller` in the end, if somebody. Calls mount what is `shared`.
pub(crate) fn recipe(
    captured: &Captured,
    command: Vec<String>,
    caller: Option<u32>,
    shared: &[PathBuf],
) -> Result<Recipe, Reason> {
    let container = &captured.container;
    if container.host_config.privileged {
        return Err("--privileged".into());
    }
    known::check(&captured.specification)?;
    let spec: Spec =
        serde_json::from_value(captured.specification.clone()).map_err(|error| new_value(&error))?;
    let linux = spec.linux().as_ref().ok_or("a specification without a part for linux")?;
    let root = spec.root().as_ref().ok_or("a specification without a root")?;
    let is_rootful = captured.maps.is_none();

    let spaces = namespaces::namespaces(linux.namespaces().as_deref().unwrap_or_default())?;
    // Without root podman joins a network to the namespace only when the container starts.
    if spaces.made.network && container.host_config.network_mode != "none" {
        return Err("a private network".into());
    }
    resources::check(linux.resources().as_ref(), linux.devices().as_deref().unwrap_or_default())?;
    namespaces::check_propagation(linux.rootfs_propagation().as_deref())?;
    let program = spec.process().as_ref().ok_or("a specification without a process")?;
    let (mut process, init) = process::process(
        program,
        command,
        Place {
            is_rootful,
            has_network: spaces.made.network,
            added: container.host_config.cap_add.as_deref().unwrap_or_default(),
        },
    )?;
    let mut devices = devices::devices(linux.devices().as_deref().unwrap_or_default())?;
    let user = user_space(linux, spaces.user, captured.maps.as_ref())?;
    // The root is `OVERLAY/ID/merged`.
    let store = root.path().ancestors().nth(2).unwrap_or(Path::new("/"));
    let layers = layers(&captured.mounts, &container.graph_driver.name, store)?;
    let is_read_only = root.readonly().unwrap_or_default();
    let mut upper = Upper::new(captured, &layers, &user, (is_read_only, shared))?;
    let list = spec.mounts().as_deref().unwrap_or_default();
    let mut mounts = mounts::mounts(list, &init, captured, &mut devices, &mut upper)?;
    // Where the launch makes the caller's account it does so in the image's own files.
    let becomes = caller.is_some_and(|caller| caller != process.uid);
    if becomes {
        accounts::leave_out(&mut upper);
    } else {
        accounts::find_home(&upper, &mounts, &mut process);
    }
    let upper = upper.into_entries();
    mounts.sort_by_key(|mount| mount.destination.components().count());
    let paths = |paths: Option<&Vec<String>>| paths.into_iter().flatten().map(PathBuf::from).collect();
    Ok(Recipe {
        layers,
        upper,
        writes_to_disk: false,
        is_read_only,
        user,
        namespaces: spaces.made,
        hostname: namespaces::hostname(spec.hostname().as_deref(), spaces.made.uts)?,
        mounts,
        devices,
        masked: paths(linux.masked_paths().as_ref()),
        read_only: paths(linux.readonly_paths().as_ref()),
        confines_programs: is_rootful
            || linux.seccomp().is_some() && process.capabilities.bounding & SYS_ADMIN == 0,
        sysctls: namespaces::sysctls(linux.sysctl().as_ref())?,
        process,
        seccomp: seccomp::filters(linux.seccomp().as_ref())?,
    })
}

/// The reason for a value that the types of the specification do not have, without the list of those they have.
fn new_value(error: &serde_json::Error) -> Reason {
    let text = error.to_string();
    let (what, _) = text.split_once(", expected").unwrap_or((&text, ""));
    Reason(format!("something new in podman's specification: {what}"))
}

#[cfg(test)]
mod tests;
