//! `attach`: the terminal of an application that runs, by calling its command.

use crate::cli::AttachArgs;
use crate::failure::Failure;
use crate::installed;
use crate::instances::{Instances, Kept};
use crate::report::Exit;
use crate::session::Session;
use flake_core::launch::label::CONFIG;
use flake_core::place::Scope;
use flake_core::registry::{Registration, Registry};
use flake_schema::Lifetime;
use flake_sys::{interrupt, signals};
use flake_tools::podman::ContainerState;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

pub(crate) fn run(args: &AttachArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    let kept = Instances::open(&session, None, "attach")?.find(&args.instance)?;
    let called = kept.called();
    let word = format!("@{}", kept.instance.label());
    let flake = registration(&kept, &session)?.loaded.flake;
    let app = flake.host_path.display();
    if flake.lifetime != Lifetime::Attach {
        let text = format!("{} has no terminal to join, a call runs beside the others", kept.flake);
        return Err(Failure::new(text).hint(format!("{app} {word}")));
    }
    let state = kept.container.as_ref().map(flake_tools::podman::Container::state);
    if state != Some(ContainerState::Running) {
        return Err(Failure::new(format!("{called} does not run")).hint(format!("start it: {app} {word}")));
    }
    let mut call = Command::new(installed::launcher()?);
    call.arg0(&flake.host_path).arg(word);
    if let Some(signal) = interrupt::unwatch() {
        signals::die_by(signal);
    }
    Err(Failure::system("cannot run the launcher", &call.exec()))
}

/// The registration that the instance was made by, else the one that a call of the name means.
fn registration(kept: &Kept, session: &Session) -> Result<Registration, Failure> {
    let registry = Registry::of(&session.caller)?;
    let name = kept.flake.parse()?;
    let file = kept.container.as_ref().and_then(|container| container.label(CONFIG)).map(Path::new);
    let own = [Scope::User, Scope::System]
        .into_iter()
        .find_map(|scope| registry.find_in(&name, scope).ok().filter(|found| file == Some(&found.file)));
    own.map_or_else(|| Ok(registry.find(&name, None)?), Ok)
}
