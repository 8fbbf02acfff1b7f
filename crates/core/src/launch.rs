//! A call, resolved: everything an engine has to know, nothing left to look up.

use crate::caller::Caller;
use crate::environment;
use crate::gap;
use crate::options::{self, Variables};
use crate::pin;
use crate::place::{Scope, pinned_tag};
use crate::registry::{Registration, Registry};
use crate::share::{self, Bind, ShareError};
use crate::words::{LauncherOption, Words};
use flake_schema::{FlakeName, Image, Network, Scratch, Target};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Labels of the environment that a launch brings up, by which the management command finds it again.
pub mod label {
    /// The flake's name.
    pub const NAME: &str = "flake.name";
    /// The caller's user id.
    pub const USER: &str = "flake.user";
    /// The flake file.
    pub const CONFIG: &str = "flake.config";
}

/// One launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The flake's name.
    pub name: FlakeName,
    /// The flake file, for labels and messages.
    pub file: PathBuf,
    /// The caller's user id.
    pub uid: u32,
    /// The engine runs with root's rights, whoever calls.
    pub as_root: bool,
    /// The image's reference in the store that the launch uses.
    pub image: String,
    /// What the flake file calls the image, for messages.
    pub reference: String,
    /// What tells one image of that reference from another; empty where nothing does.
    pub image_state: String,
    /// Where the image is imported from when that store lacks it.
    pub archive: Option<PathBuf>,
    /// What runs inside.
    pub target: Target,
    /// The words of the call.
    pub args: Vec<OsString>,
    /// The network; absent: what the engine does by itself.
    pub network: Option<Network>,
    /// What of the host is visible.
    pub binds: Vec<Bind>,
    /// The working directory, shared with an instance that outlives the call.
    pub passing: Option<Bind>,
    /// Variables on top of the image's.
    pub env: BTreeMap<OsString, OsString>,
    /// Where it starts; absent: where the image says.
    pub workdir: Option<PathBuf>,
    /// The identity inside; absent: the image's user.
    pub identity: Option<Identity>,
    /// Where what it writes into its root is, when that is thrown away.
    pub scratch: Scratch,
    /// The engine's own options, as words.
    pub options: Vec<String>,
    /// The file mode creation mask.
    pub umask: u32,
    /// For a person at the terminal.
    pub warning: Option<String>,
}

/// The caller's identity, as the application is to see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// User id.
    pub uid: u32,
    /// Primary group id.
    pub gid: u32,
    /// Login name.
    pub name: String,
    /// Name of the primary group.
    pub group: String,
    /// Full name or comment.
    pub gecos: String,
    /// Home directory.
    pub home: PathBuf,
    /// Whether the home directory is to be made, empty: nothing of the host's is there.
    pub empty_home: bool,
    /// The time zone.
    pub zone: Option<Zone>,
}

/// A time zone, as the host has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// `/etc/localtime`.
    Local,
    /// A name below `/usr/share/zoneinfo`.
    Named(String),
}

/// Why a call cannot be launched.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The flake uses a part that is not there yet.
    #[error("this flake needs {part}, which this release does not have yet")]
    MissingPart {
        /// The part.
        part: String,
    },
    /// Something is to be shared that cannot be.
    #[error(transparent)]
    Share(#[from] ShareError),
}

/// Whose rights the engine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// The caller's own.
    Own,
    /// Root's, for a caller who is not root.
    Lent,
}

/// Resolves a call.
///
/// # Errors
/// [`ResolveError`]; nothing was touched.
pub fn resolve(
    registration: &Registration,
    registry: &Registry,
    caller: &Caller,
    words: Words,
    rights: Rights,
) -> Result<Launch, ResolveError> {
    let flake = &registration.loaded.flake;
    let name = &registration.loaded.name;
    if let Some(part) = gap::missing_part(flake) {
        return Err(ResolveError::MissingPart { part });
    }
    let shared = share::resolve(flake, caller)?;
    let mut env = environment::select(&flake.env, caller);
    let identity = flake.as_caller.then(|| identity(caller, &shared));
    if let Some(identity) = &identity {
        for (variable, value) in [
            ("HOME", identity.home.as_os_str()),
            ("USER", identity.name.as_ref()),
            ("LOGNAME", identity.name.as_ref()),
        ] {
            env.entry(variable.into()).or_insert_with(|| value.to_owned());
        }
        // The zone's file is mounted there; an image need not have it under its name.
        if let Some(Zone::Named(_)) = identity.zone {
            env.insert("TZ".into(), ":/etc/localtime".into());
        } else if let Some(zone) = caller.var("TZ") {
            env.insert("TZ".into(), zone.to_owned());
        }
    }
    let variables = match rights {
        Rights::Own => Variables::Environment,
        Rights::Lent => Variables::Passwd,
    };
    let lenient = words.has(LauncherOption::IgnoreMissingVolumePath);
    let options = flake
        .podman
        .iter()
        .map(|option| options::words(option, caller, variables))
        .filter(|words| !lenient || !options::is_volume_without_source(words))
        .flatten()
        .collect();
    let archive = imported(registration, registry, caller);
    let (Image::Container { name: reference, .. } | Image::Vm(reference) | Image::Northstar(reference)) =
        &flake.image;
    let reference = reference.clone();
    let (image, image_state) = match (&archive, &flake.image) {
        (Some(archive), _) => (pinned_tag(name, registration.scope), state_of(archive)),
        (None, Image::Container { name: image, .. }) if has_own_store(registration, caller) => {
            pin::image(registry.places(registration.scope), name, image)
        }
        (None, _) => (reference.clone(), String::new()),
    };
    Ok(Launch {
        name: name.clone(),
        file: registration.file.clone(),
        uid: caller.uid,
        as_root: flake.as_root,
        image,
        image_state,
        reference,
        archive,
        target: flake.target.clone(),
        args: words.args,
        network: flake.network,
        binds: shared.binds,
        passing: shared.passing,
        env,
        workdir: shared.workdir,
        identity,
        scratch: flake.scratch,
        options,
        umask: caller.umask,
        warning: shared.warning,
    })
}

/// A system flake that runs as its caller has its image in an archive that everybody can read; root has
/// the image itself.
fn imported(registration: &Registration, registry: &Registry, caller: &Caller) -> Option<PathBuf> {
    let is_imported = !has_own_store(registration, caller);
    is_imported.then(|| registry.system.archive(&registration.loaded.name)).filter(|archive| archive.exists())
}

/// What tells one state of an archive from another.
#[must_use]
pub fn state_of(archive: &Path) -> String {
    archive.metadata().map_or_else(
        |_| String::new(),
        |file| {
            format!("{} {} {} {} {}", file.dev(), file.ino(), file.mtime(), file.mtime_nsec(), file.size())
        },
    )
}

/// Whether a call works on the store in which whoever registered the flake has its image.
fn has_own_store(registration: &Registration, caller: &Caller) -> bool {
    registration.scope == Scope::User || registration.loaded.flake.as_root || caller.is_root()
}

fn identity(caller: &Caller, shared: &share::Shared) -> Identity {
    // Root's home is the image's own business, and nobody can have the root folder.
    let replaces_nothing = caller.uid != 0 && caller.home != Path::new("/");
    Identity {
        uid: caller.uid,
        gid: caller.gid,
        name: caller.name.clone(),
        group: caller.group.clone(),
        gecos: caller.gecos.clone(),
        home: caller.home.clone(),
        empty_home: replaces_nothing && !shared.covers(&caller.home),
        zone: zone(caller),
    }
}

/// The caller's time zone: `TZ` when it names a file, else the system's.
fn zone(caller: &Caller) -> Option<Zone> {
    let named = caller.var("TZ").and_then(|zone| zone.to_str()).map(|zone| zone.trim_start_matches(':'));
    if let Some(name) = named.filter(|name| is_zone_name(name))
        && Path::new("/usr/share/zoneinfo").join(name).is_file()
    {
        return Some(Zone::Named(name.to_owned()));
    }
    Path::new("/etc/localtime").exists().then_some(Zone::Local)
}

/// Names only, no way out of the folder.
fn is_zone_name(name: &str) -> bool {
    !name.is_empty()
        && name.split('/').all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_names_stay_in_their_folder() {
        for name in ["Europe/Berlin", "Etc/GMT+3", "UTC", "America/Port-au-Prince"] {
            assert!(is_zone_name(name), "{name}");
        }
        for name in ["", "/etc/passwd", "../passwd", "a//b", "a/..", "a.b"] {
            assert!(!is_zone_name(name), "{name}");
        }
    }
}
