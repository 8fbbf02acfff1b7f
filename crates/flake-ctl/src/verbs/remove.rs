//! `remove`: a command, or an image with all of its commands.

use crate::cli::RemoveArgs;
use crate::failure::Failure;
use crate::output;
use crate::report::{Exit, note};
use crate::session::Session;
use flake_core::host_path;
use flake_core::place::Places;
use flake_core::remove::{self, RemoveError, Removed};
use flake_schema::load_flake;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RemoveArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    if let Some(app) = &args.app {
        let app = absolute(app, &session);
        let removed = remove::command(&app, &session.places, &session.store, args.force);
        say_removed(&removed.map_err(|error| explain(error, &session))?)?;
    }
    let Some(image) = &args.container else { return Ok(Exit::Done) };
    let removed = remove::image(image, &session.places, &session.store, args.force)
        .map_err(|error| explain(error, &session))?;
    removed.registrations.iter().try_for_each(say_removed)?;
    if removed.image {
        output::print(format!("removed image {image}\n").as_bytes())?;
    }
    for error in &removed.unreadable {
        note(&format!("left alone, it may be of this image: {error}"));
    }
    Ok(Exit::Done)
}

fn absolute(path: &Path, session: &Session) -> PathBuf {
    session.caller.cwd.as_deref().map_or_else(|| path.to_owned(), |cwd| cwd.join(path))
}

fn say_removed(removed: &Removed) -> Result<(), Failure> {
    let what = match &removed.host_path {
        Some(path) => path.display().to_string(),
        None => removed.name.to_string(),
    };
    output::print(format!("removed {what}\n").as_bytes())?;
    if removed.foreign {
        note(&format!("{what} is not a link to the launcher and stays"));
    }
    Ok(())
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
