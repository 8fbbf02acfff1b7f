//! `stop`: instances end, and stay to be started by the next call.

use crate::cli::StopArgs;
use crate::failure::Failure;
use crate::instances::{Instances, Kept};
use crate::report::Exit;
use crate::session::Session;
use flake_tools::podman::ContainerState;

pub(crate) fn run(args: &StopArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    let instances = Instances::open(&session, args.whose.user.as_deref(), "stop")?;
    // All are known before the first ends.
    let asked: Vec<Kept> = match args.all {
        true => instances.all().to_vec(),
        false => args.instance.iter().map(|word| instances.find(word)).collect::<Result<_, _>>()?,
    };
    for kept in asked.iter().filter(|kept| runs(kept)) {
        // Whoever starts it meanwhile comes first or after.
        let _making = kept.notes(&session).lock(&kept.instance)?;
        session.store.podman()?.stop(&kept.instance.container_name(), args.time)?;
    }
    Ok(Exit::Done)
}

fn runs(kept: &Kept) -> bool {
    kept.container.as_ref().is_some_and(|container| container.state() != ContainerState::Stopped)
}
