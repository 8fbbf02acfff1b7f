//! `logs`: what an instance has said by itself, not through a call.

use crate::cli::LogsArgs;
use crate::failure::Failure;
use crate::instances::Instances;
use crate::report::Exit;
use crate::session::Session;

pub(crate) fn run(args: &LogsArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    let kept = Instances::open(&session, args.whose.user.as_deref(), "logs")?.find(&args.instance)?;
    let status = session.store.podman()?.logs(&kept.container_name()?, args.lines, args.follow)?;
    Ok(Exit::External(status))
}
