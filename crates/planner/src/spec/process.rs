//! The process inside.

use crate::error::Reason;
use flake_plan::{Capabilities, Process, Rlimit};
use oci_spec::runtime::{Capabilities as Names, PosixRlimit, PosixRlimitType, Process as Program};
use rustix::process::Resource;
use rustix::thread::CapabilitySet;
use std::path::PathBuf;

/// Rights of the real root with which one gets out of what the runner makes without a control group of devices, or
/// into the runner's own processes.
const OUT: [(CapabilitySet, &str); 5] = [
    (CapabilitySet::SYS_PTRACE, "CAP_SYS_PTRACE"),
    (CapabilitySet::SYS_ADMIN, "CAP_SYS_ADMIN"),
    (CapabilitySet::SYS_MODULE, "CAP_SYS_MODULE"),
    (CapabilitySet::SYS_RAWIO, "CAP_SYS_RAWIO"),
    (CapabilitySet::DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"),
];

/// Rights of the real root that podman may give by default and a launch without a control group of devices, or on the
/// host's network, is better off without.
const MAKE_DEVICES: (CapabilitySet, &str) = (CapabilitySet::MKNOD, "CAP_MKNOD");
const RAW_PACKETS: (CapabilitySet, &str) = (CapabilitySet::NET_RAW, "CAP_NET_RAW");

/// Whose process it is, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Root's own.
    pub(crate) is_rootful: bool,
    /// It has a network of its own.
    pub(crate) has_network: bool,
    /// The capabilities that were asked for.
    pub(crate) added: &'a [String],
}

/// Reads the process; beside it is where podman's init is mounted.
pub(crate) fn process(
    program: &Program,
    command: Vec<String>,
    place: Place<'_>,
) -> Result<(Process, PathBuf), Reason> {
    if program.terminal().unwrap_or_default() {
        return Err("a terminal of podman's".into());
    }
    let words = program.args().as_deref().unwrap_or_default();
    // Podman's init, its dash, the entrypoint, the mark.
    let (init, entrypoint) = match words {
        [init, dash, entrypoint @ .., mark] if dash == "--" && mark == flake_wire::ENTRYPOINT_ENDS => {
            (PathBuf::from(init), entrypoint.to_vec())
        }
        _ => return Err("a command of an unexpected form".into()),
    };
    let mut capabilities = capabilities(program.capabilities().as_ref())?;
    if place.is_rootful {
        withhold(&mut capabilities, place)?;
    }
    let user = program.user();
    let process = Process {
        uid: user.uid(),
        gid: user.gid(),
        groups: user.additional_gids().clone().unwrap_or_default(),
        entrypoint,
        command,
        env: program.env().clone().unwrap_or_default(),
        cwd: program.cwd().clone(),
        capabilities,
        rlimits: program.rlimits().iter().flatten().map(rlimit).collect::<Result<_, _>>()?,
        no_new_privileges: program.no_new_privileges().unwrap_or_default(),
        oom_score_adj: program.oom_score_adj(),
        apparmor: program.apparmor_profile().clone().filter(|profile| !profile.is_empty()),
    };
    Ok((process, init))
}

/// Takes away what the real root is better off without; what was asked for by name is podman's to give.
fn withhold(capabilities: &mut Capabilities, place: Place<'_>) -> Result<(), Reason> {
    let bounding = CapabilitySet::from_bits_retain(capabilities.bounding);
    let adds = |name: &str| Err(format!("adds {name}").into());
    if let Some((_, name)) = OUT.iter().find(|(right, _)| bounding.contains(*right)) {
        return adds(name);
    }
    let of_network = Some(RAW_PACKETS).filter(|_| !place.has_network);
    for (right, name) in [MAKE_DEVICES].into_iter().chain(of_network) {
        if bounding.contains(right) && place.added.iter().any(|added| added == name) {
            return adds(name);
        }
        let Capabilities { bounding, effective, permitted, inheritable, ambient } = capabilities;
        for set in [bounding, effective, permitted, inheritable, ambient] {
            *set &= !right.bits();
        }
    }
    Ok(())
}

fn capabilities(sets: Option<&oci_spec::runtime::LinuxCapabilities>) -> Result<Capabilities, Reason> {
    let Some(sets) = sets else { return Ok(Capabilities::default()) };
    Ok(Capabilities {
        bounding: bits(sets.bounding().as_ref())?,
        effective: bits(sets.effective().as_ref())?,
        permitted: bits(sets.permitted().as_ref())?,
        inheritable: bits(sets.inheritable().as_ref())?,
        ambient: bits(sets.ambient().as_ref())?,
    })
}

fn bits(names: Option<&Names>) -> Result<u64, Reason> {
    let bit = |name: String| {
        let name = name.strip_prefix("CAP_").unwrap_or(&name);
        CapabilitySet::from_name(name)
            .map(|right| right.bits())
            .ok_or_else(|| Reason::unknown(format_args!("the capability CAP_{name}")))
    };
    names.into_iter().flatten().map(ToString::to_string).map(bit).try_fold(0, |all, bit| Ok(all | bit?))
}

fn rlimit(limit: &PosixRlimit) -> Result<Rlimit, Reason> {
    use PosixRlimitType as Kind;
    let resource = match limit.typ() {
        Kind::RlimitCpu => Resource::Cpu,
        Kind::RlimitFsize => Resource::Fsize,
        Kind::RlimitData => Resource::Data,
        Kind::RlimitStack => Resource::Stack,
        Kind::RlimitCore => Resource::Core,
        Kind::RlimitRss => Resource::Rss,
        Kind::RlimitNproc => Resource::Nproc,
        Kind::RlimitNofile => Resource::Nofile,
        Kind::RlimitMemlock => Resource::Memlock,
        Kind::RlimitAs => Resource::As,
        Kind::RlimitLocks => Resource::Locks,
        Kind::RlimitSigpending => Resource::Sigpending,
        Kind::RlimitMsgqueue => Resource::Msgqueue,
        Kind::RlimitNice => Resource::Nice,
        Kind::RlimitRtprio => Resource::Rtprio,
        Kind::RlimitRttime => Resource::Rttime,
    };
    Ok(Rlimit { resource: resource as u32, soft: limit.soft(), hard: limit.hard() })
}
