//! `remove`: a command, or an image with all of its commands.

use crate::cli::RemoveArgs;
use crate::failure::Failure;
use crate::instances::{self, Kept, going_with, name_of};
use crate::left_scratch;
use crate::output;
use crate::report::{Exit, note};
use crate::session::Session;
use flake_core::host_path;
use flake_core::place::Places;
use flake_core::remove::{self, RemoveError, Removed};
use flake_schema::{FlakeName, load_flake};
use std::path::Path;

pub(crate) fn run(args: &RemoveArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    let removed = match (&args.app, &args.container) {
        (Some(app), _) => command(app, args.force, &session),
        (None, Some(image)) => with_image(image, args.force, &session),
        (None, None) => return Ok(Exit::Done),
    };
    // It may have been the last that would have cleared up.
    left_scratch::remove(&session.places, &session.store);
    removed
}

fn command(app: &Path, force: bool, session: &Session) -> Result<Exit, Failure> {
    let path = session.caller.cwd.as_deref().map_or_else(|| app.to_owned(), |cwd| cwd.join(app));
    let names: Vec<_> = host_path::command(&path).ok().map(|(_, name)| name).into_iter().collect();
    let going = going(&names, force, session)?;
    let removed = remove::command(&path, &session.places, &session.store, force)
        .map_err(|error| explain(error, session))?;
    end(&going, session)?;
    note_foreign(&removed);
    Ok(Exit::Done)
}

/// Which commands went is not on the command line, so they are listed.
fn with_image(image: &str, force: bool, session: &Session) -> Result<Exit, Failure> {
    let names =
        remove::of_image(image, &session.places, &session.store).map_err(|error| explain(error, session))?;
    let going = going(&names, force, session)?;
    let removed = remove::image(image, &session.places, &session.store, force)
        .map_err(|error| explain(error, session))?;
    end(&going, session)?;
    let paths = removed.registrations.iter().filter_map(|removed| removed.host_path.as_deref());
    output::print(paths.map(|path| format!("{}\n", path.display())).collect::<String>().as_bytes())?;
    removed.registrations.iter().for_each(note_foreign);
    for error in &removed.unreadable {
        note(&format!("left alone, it may be of this image: {error}"));
    }
    Ok(Exit::Done)
}

/// The kept instances that go with these flakes; without `force` there may be none.
fn going(names: &[FlakeName], force: bool, session: &Session) -> Result<Vec<Kept>, Failure> {
    let going = going_with(names, session)?;
    if force || going.is_empty() {
        return Ok(going);
    }
    let whose = |kept: &Kept| match kept.instance.uid {
        uid if uid == session.caller.uid => kept.called(),
        uid => format!("{} ({})", kept.called(), name_of(uid)),
    };
    let list = going.iter().map(whose).collect::<Vec<_>>().join(", ");
    let text = format!("instances are kept, and would go with it: {list}");
    Err(Failure::new(text).hint("--force removes them too, with all that is in them"))
}

/// They go last: nobody makes them anew without a registration.
fn end(going: &[Kept], session: &Session) -> Result<(), Failure> {
    going.iter().try_for_each(|kept| instances::remove(kept, session, true).map(drop))
}

fn note_foreign(removed: &Removed) {
    if let (true, Some(path)) = (removed.foreign, &removed.host_path) {
        note(&format!("{} is not a link to the launcher and stays", path.display()));
    }
}

fn explain(error: RemoveError, session: &Session) -> Failure {
    let hint = match &error {
        RemoveError::NotRegistered(path) if is_the_systems(path, session) => {
            format!("it is the system's: sudo flake-ctl podman remove --app {}", path.display())
        }
        RemoveError::NotRegistered(_) | RemoveError::NoImage(_) => "flake-ctl list shows what is".to_owned(),
        RemoveError::Elsewhere { at, .. } => format!("flake-ctl podman remove --app {}", at.display()),
        RemoveError::Foreign(_) => "--force removes its registration and leaves it alone".to_owned(),
        RemoveError::Load(_) => "--force removes it unread".to_owned(),
        RemoveError::InUse { .. } => "--force ends them".to_owned(),
        RemoveError::Folder(path) => format!("look into it, then: rm -r {}", path.display()),
        RemoveError::Path(_) | RemoveError::Change(_) => return error.into(),
    };
    Failure::from(error).hint(hint)
}

/// Whether a normal user asks for a command that root registered.
fn is_the_systems(path: &Path, session: &Session) -> bool {
    let Ok((_, name)) = host_path::command(path) else { return false };
    !session.caller.is_root()
        && Places::system().is_ok_and(|system| {
            load_flake(&system.flake_file(&name))
                .is_ok_and(|loaded| host_path::is_same(&loaded.flake.host_path, path))
        })
}
