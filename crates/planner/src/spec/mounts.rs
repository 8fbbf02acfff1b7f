//! The mounts.

use super::devices::{device, is_below_dev, is_usable};
use super::options::Options;
use crate::captured::{Captured, is_own};
use crate::error::Reason;
use crate::upper::Upper;
use flake_plan::{Device, Mount, MountKind};
use flake_tools::podman::{Own, OwnKind};
use oci_spec::runtime::Mount as Listed;
use std::path::{Component, Path};

/// Options of the file systems that are handed on.
const TMPFS: [&str; 6] = ["gid", "huge", "mode", "nr_inodes", "size", "uid"];
const DEVPTS: [&str; 5] = ["gid", "max", "mode", "ptmxmode", "uid"];
const MODE: &str = "mode";
/// The mode of a file system in memory that is told none (tmpfs(5)).
const MEMORYS_MODE: &str = "1777";
/// Where memory is shared between processes (shm_open(3)).
const SHM: &str = "/dev/shm";
/// Where device files are.
const DEV: &str = "/dev";

/// The mounts. Device files join `devices`, files that podman made `upper`. Podman's init at `init` is left out.
pub(crate) fn mounts(
    list: &[Listed],
    init: &Path,
    captured: &Captured,
    devices: &mut Vec<Device>,
    upper: &mut Upper<'_>,
) -> Result<Vec<Mount>, Reason> {
    if let Some(volume) = &captured.odd_volume {
        return Err(volume.clone().into());
    }
    let mut mounts = Vec::new();
    for listed in list {
        if listed.destination() == init {
            upper.remove_place(listed.source().as_deref().unwrap_or(Path::new("")));
        } else {
            mounts.extend(mount(listed, captured, devices, upper)?);
        }
    }
    Ok(mounts)
}

fn mount(
    listed: &Listed,
    captured: &Captured,
    devices: &mut Vec<Device>,
    upper: &mut Upper<'_>,
) -> Result<Option<Mount>, Reason> {
    let destination = listed.destination().clone();
    let at = destination.display().to_string();
    if !destination.is_absolute() || destination.components().any(|part| part == Component::ParentDir) {
        return Err(format!("a mount at {at}").into());
    }
    let mut options = Options::read(listed.options().as_deref().unwrap_or_default(), &at)?;
    let kind = listed.typ().as_deref().unwrap_or_default();
    if destination == Path::new(DEV) && kind != "tmpfs" {
        return Err("another /dev than podman's".into());
    }
    let kind = match kind {
        "proc" => MountKind::Proc,
        "sysfs" => MountKind::Sys,
        "mqueue" => MountKind::Mqueue,
        "cgroup" | "cgroup2" => MountKind::Cgroup,
        "devpts" => MountKind::Devpts(options.own_of(&DEVPTS, &at)?),
        "tmpfs" => {
            let mut own = options.own_of(&TMPFS, &at)?;
            // Else it has the mode of what it is over, and the runtime had made nothing there yet.
            if own.iter().all(|(name, _)| name != MODE) && upper.is_new_folder(&destination) {
                own.push((MODE.to_owned(), Some(MEMORYS_MODE.to_owned())));
            }
            MountKind::Tmpfs { options: own, is_copied_up: options.is_copied_up }
        }
        kind if kind == "bind" || options.is_bind => {
            let source = listed.source().as_deref().unwrap_or(Path::new(""));
            if !source.is_absolute() {
                return Err(format!("a mount of {} at {at}", source.display()).into());
            }
            if is_own(source, &captured.container.id) {
                let made = captured.own.get(source);
                let is_restricted = options.flags.read_only || options.flags.no_exec;
                if made.is_some_and(|made| !is_restricted && upper.take(source, made)) {
                    return Ok(None);
                }
                own(made, &destination, captured)?
            } else if options.has_devices && is_usable(source, captured.maps.is_none()) {
                if !is_below_dev(&destination) {
                    return Err(format!("a device at {at}").into());
                }
                devices.push(device(&destination, source));
                return Ok(None);
            } else if options.wants_devices {
                return Err(format!("devices at {at}").into());
            } else if options.takes_later {
                return Err(format!("mounts that come later (slave) at {at}").into());
            } else {
                MountKind::Bind { source: source.to_owned(), is_recursive: options.is_recursive }
            }
        }
        other => return Err(Reason::unknown(format_args!("a mount of type {other} at {at}"))),
    };
    // What is left belongs to nothing that is known.
    options.own_of(&[], &at)?;
    Ok(Some(Mount { destination, kind, flags: options.flags }))
}

/// What podman made in the container's own directories, which go with it.
fn own(made: Option<&Own>, destination: &Path, captured: &Captured) -> Result<MountKind, Reason> {
    match made.map(|made| (&made.kind, made.mode)) {
        Some((OwnKind::Folder, _)) if destination == Path::new(SHM) => Ok(MountKind::Tmpfs {
            options: vec![
                (MODE.to_owned(), Some(MEMORYS_MODE.to_owned())),
                ("size".to_owned(), Some(captured.container.host_config.shm_size.to_string())),
            ],
            is_copied_up: false,
        }),
        Some((OwnKind::File(content), mode)) => Ok(MountKind::File { content: content.clone(), mode }),
        _ => {
            let at = destination.display();
            Err(format!("what podman makes anew for each container at {at}").into())
        }
    }
}
