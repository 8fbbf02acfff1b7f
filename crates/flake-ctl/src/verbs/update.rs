//! `update`: a newer image for a command, or the one before.

mod newest;
mod row;

use crate::cli::UpdateArgs;
use crate::failure::Failure;
use crate::output;
use crate::planning::Planning;
use crate::report::{Exit, fail, note, say};
use crate::session::Session;
use flake_core::list::list_in;
use flake_core::registry::{FindError, Registration, Registry};
use flake_core::update::UpdateError;
use flake_core::{pin, update};
use flake_schema::FlakeName;
use flake_sys::interrupt;
use newest::Newest;
use row::Row;

pub(crate) fn run(args: &UpdateArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    let registry = Registry::of(&session.caller)?;
    let mut newest = Newest::new(&session);
    let Some(name) = &args.name else { return all(args, &session, &registry, &mut newest) };
    let name = FlakeName::from_os(name)?;
    let registration = find(&name, &session, &registry)?;
    let row = one(&registration, args, &session, &registry, &mut newest)?;
    output::rows(&[row], args.format)?;
    Ok(Exit::Done)
}

/// Every command that has an image to take anew. One that fails does not keep the others from theirs.
fn all(
    args: &UpdateArgs,
    session: &Session,
    registry: &Registry,
    newest: &mut Newest<'_>,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    let mut rows = Vec::new();
    for listed in list_in(&session.places)? {
        let loaded = match listed.loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                say(&error.to_string());
                exit = Exit::Incomplete;
                continue;
            }
        };
        if pin::image_of(&loaded.flake).is_none() {
            note(&UpdateError::NotPlain(loaded.name).to_string());
            continue;
        }
        if args.rollback
            && let Err(UpdateError::NoPrevious(_)) =
                update::previous(&loaded, &session.places, &session.store)
        {
            continue;
        }
        let registration = Registration { loaded, file: listed.file, scope: listed.scope };
        match one(&registration, args, session, registry, newest) {
            Ok(row) => rows.push(row),
            Err(failure) if interrupt::pending().is_some() => return Err(failure),
            Err(mut failure) => {
                failure.text = format!("{}: {}", registration.loaded.name, failure.text);
                fail(&failure);
                exit = Exit::Incomplete;
            }
        }
    }
    output::rows(&rows, args.format)?;
    Ok(exit)
}

/// Only its owner moves a command's image.
fn find(name: &FlakeName, session: &Session, registry: &Registry) -> Result<Registration, Failure> {
    match registry.find_in(name, session.places.scope) {
        Err(error @ FindError::Unknown { .. }) => {
            let is_the_systems =
                !session.caller.is_root() && registry.system.flake_file(name).symlink_metadata().is_ok();
            Err(if is_the_systems {
                Failure::new(format!("{name} is the system's, its image too"))
                    .hint(format!("sudo flake-ctl update {name}"))
            } else {
                error.into()
            })
        }
        found => Ok(found?),
    }
}

fn one(
    registration: &Registration,
    args: &UpdateArgs,
    session: &Session,
    registry: &Registry,
    newest: &mut Newest<'_>,
) -> Result<Row, Failure> {
    let Session { places, store, .. } = session;
    let loaded = &registration.loaded;
    let change = match (args.rollback, args.dry_run) {
        (false, true) => return newest.look(loaded),
        (false, false) => newest.take(loaded)?,
        (true, true) => update::previous(loaded, places, store).map_err(explain)?,
        (true, false) => update::to_previous(loaded, places, store).map_err(explain)?,
    };
    if !args.dry_run && !change.is_none() {
        Planning::new(registration, registry, &session.caller).prepare();
    }
    Ok(Row::of(loaded, &change))
}

fn explain(error: UpdateError) -> Failure {
    let hint = match &error {
        UpdateError::NoImage(image) => format!("flake-ctl podman pull --uri {image}"),
        UpdateError::NoPrevious(name) | UpdateError::PreviousGone { name, .. } => {
            format!("for the newest image: flake-ctl update {name}")
        }
        _ => return error.into(),
    };
    Failure::from(error).hint(hint)
}
