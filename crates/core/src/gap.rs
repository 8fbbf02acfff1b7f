//! Parts of the design that this release does not have. A flake that needs one loads and registers; a
//! call of it says which part is missing.

use flake_schema::{Engine, Flake, Image, Reserved, ShareWhat};

/// The first part that a call of this flake would need and that is not there.
#[must_use]
pub fn missing_part(flake: &Flake) -> Option<String> {
    let part = match flake.engine {
        Engine::Vm => "virtual machines (engine vm)",
        Engine::Northstar => "the northstar engine",
        Engine::Podman => podman_part(flake)?,
    };
    Some(part.to_owned())
}

fn podman_part(flake: &Flake) -> Option<&'static str> {
    let Image::Container { base, layers, host_files, .. } = &flake.image else { return None };
    let composed = base.is_some()
        || !layers.is_empty()
        || *host_files
        || !flake.include_tar.is_empty()
        || !flake.include_path.is_empty()
        || !flake.hostsystem.is_empty();
    let reserved = flake.share.iter().find_map(|share| match share.what {
        ShareWhat::Reserved(word) => Some(word),
        _ => None,
    });
    let is_kept = flake.lifetime.is_mutable();
    if composed {
        Some("composition (base_container, layers, include, hostsystem, check_host_dependencies)")
    } else if !flake.provision.is_empty() && !is_kept {
        Some("provisioning scripts (provision) in an immutable flake")
    } else if !flake.probes.is_empty() && !is_kept {
        Some("probes (probes) in an immutable flake")
    } else {
        reserved.map(desktop_part)
    }
}

fn desktop_part(word: Reserved) -> &'static str {
    match word {
        Reserved::Wayland => "sharing of wayland",
        Reserved::X11 => "sharing of x11",
        Reserved::Pulse => "sharing of pulse",
        Reserved::Dbus => "sharing of dbus",
        Reserved::SshAgent => "sharing of ssh-agent",
        Reserved::Gpu => "sharing of gpu",
    }
}
