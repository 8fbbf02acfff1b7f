//! Plans: what podman makes of a flake's options is looked at once, and turned into something that can be run
//! without podman.
//!
//! [`make`] has podman make and initialise a container, reads the runtime specification that it wrote for it, and
//! removes it. So every option means what podman means by it. What of a specification is not known here, or cannot
//! be done without podman, sends the launch the agent's way, and the plan says why.

mod accounts;
mod captured;
mod conf;
mod error;
mod layers;
mod look;
mod mountinfo;
mod named;
mod options;
mod recipe;
mod refusal;
mod scratch;
mod seccomp;
mod spec;
mod upper;
mod users;

pub use error::PlannerError;

use captured::Captured;
use error::Reason;
use flake_core::launch::{Launch, Zone};
use flake_plan::{Basis, Plan, Way};
use flake_schema::{Network, Source};
use flake_tools::podman::Podman;
use refusal::Refusal;
use std::path::{Path, PathBuf};

/// Makes the plan of a launch. `files` are those of the registration and the settings, `home` is the user's,
/// `state` the folder of this user's state. Where podman fails in a way that the next call would see again, the plan is
/// the agent's way, which may do.
///
/// # Errors
/// [`PlannerError`]; no container is left in any case but this process' being killed, and what that leaves is
/// removed by a later call.
pub fn make(
    launch: &Launch,
    podman: &Podman,
    files: Vec<Source>,
    (home, state): (&Path, &Path),
) -> Result<Plan, PlannerError> {
    let is_root = rustix::process::geteuid().is_root();
    let words = flake_engine::podman::created(launch, is_root)?;
    let named = obstacle(launch);
    // Before podman looks at it: what changes from here on makes the plan old.
    let zone = match launch.identity.as_ref().and_then(|identity| identity.zone.as_ref()) {
        Some(Zone::Named(name)) => Some(named::zone(name)),
        Some(Zone::Local) | None => None,
    };
    let paths = named.iter().flatten().cloned().chain(zone);
    let looked_at = paths.filter_map(|path| Source::look_at(&path).ok());
    let basis = Basis::now(files.into_iter().chain(looked_at), home);
    let mut basis = basis.with_program(podman.program().path());
    let checked = named.and_then(|_| conf::check(&basis));
    let (image_id, found) = match checked {
        Ok(()) => {
            podman.remove_left_specimens()?;
            match Captured::take(podman, &words, is_root) {
                Ok((captured, volumes)) => {
                    basis.files.extend(volumes);
                    let caller = launch.identity.as_ref().map(|identity| identity.uid);
                    // By its id: the name may lead to another one by now.
                    let image = podman.image_inspect(&captured.container.image)?;
                    let command = match options::replace_entrypoint(&launch.options) {
                        true => Vec::new(),
                        false => image.config.unwrap_or_default().cmd.unwrap_or_default(),
                    };
                    let shared: Vec<_> = launch.binds.iter().map(|bind| bind.path.clone()).collect();
                    let recipe = recipe::recipe(&captured, command, caller, &shared);
                    (
                        image.id,
                        recipe.and_then(|recipe| scratch::choose(recipe, launch.scratch, &captured, state)),
                    )
                }
                Err(error) => match (refusal::of(&error), podman.image_inspect(&launch.image)) {
                    (Some(Refusal { reason, stays }), Ok(image)) => {
                        if !stays {
                            basis = basis.for_a_while();
                        }
                        (image.id, Err(reason))
                    }
                    _ => return Err(error),
                },
            }
        }
        Err(reason) => (podman.image_inspect(&launch.image)?.id, Err(reason)),
    };
    let way = match found {
        Ok(recipe) => Way::Runner(Box::new(recipe)),
        Err(reason) => Way::Agent { reason: reason.0 },
    };
    Ok(Plan { uid: rustix::process::geteuid().as_raw(), words, basis, image_id, way })
}

/// What stands in the way before podman is asked; else the files that options name.
fn obstacle(launch: &Launch) -> Result<Vec<PathBuf>, Reason> {
    // Nothing to look at: setting one up takes podman a while.
    if launch.network == Some(Network::Private) {
        return Err("a private network".into());
    }
    if let Some(reason) = flake_runner::why_not() {
        return Err(reason.into());
    }
    options::check(&launch.options)?;
    named::files(&launch.options)
}
