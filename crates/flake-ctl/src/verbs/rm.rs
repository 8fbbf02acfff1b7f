//! `rm`: instances go, with all that is in them.

use crate::ask;
use crate::cli::RmArgs;
use crate::failure::Failure;
use crate::instances::{Instances, Kept, Removal, remove};
use crate::report::Exit;
use crate::session::Session;

pub(crate) fn run(args: &RmArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    let instances = Instances::open(&session, args.whose.user.as_deref(), "rm")?;
    let asked: Vec<Kept> = args.instance.iter().map(|word| instances.find(word)).collect::<Result<_, _>>()?;
    let is_asked = !args.yes && !args.force;
    if is_asked && !is_wanted(&asked)? {
        return Ok(Exit::Incomplete);
    }
    for kept in &asked {
        if remove(kept, &session, args.force)? == Removal::InUse {
            let text = format!("{} is in use", kept.called());
            return Err(Failure::new(text).hint("--force ends what runs in it"));
        }
    }
    Ok(Exit::Done)
}

/// What is in them is gone for good.
fn is_wanted(asked: &[Kept]) -> Result<bool, Failure> {
    let names = asked.iter().map(Kept::called).collect::<Vec<_>>().join(", ");
    if !ask::is_possible() {
        let text = format!("what is in {names} would be gone, and nobody is here to be asked");
        return Err(Failure::new(text).hint("--yes removes without a question"));
    }
    ask::confirm(&format!("remove {names} with all that is in it?"))
}
