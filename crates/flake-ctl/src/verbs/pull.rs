//! `pull`: podman speaks for itself.

use crate::cli::PullArgs;
use crate::failure::Failure;
use crate::report::Exit;
use crate::session::Session;

pub(crate) fn run(args: &PullArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    Ok(Exit::External(session.store.podman()?.pull(&args.uri)?))
}
