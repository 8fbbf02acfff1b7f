//! The instances that nobody calls any more when some flakes are gone.

use super::{Kept, everybodys};
use crate::failure::Failure;
use crate::session::Session;
use flake_core::instance::group;
use flake_core::list::{list, list_in};
use flake_core::registry::Registry;
use flake_schema::FlakeName;

/// The instances of these registered flakes that no other flake shares.
pub(crate) fn going_with(names: &[FlakeName], session: &Session) -> Result<Vec<Kept>, Failure> {
    let is_gone = |name: &str| names.iter().any(|gone| gone.as_str() == name);
    let own = list_in(&session.places)?;
    let groups = |gone: bool| {
        let flakes = own.iter().filter(move |listed| is_gone(&listed.name) == gone);
        flakes.filter_map(|listed| listed.loaded.as_ref().ok()).filter_map(|loaded| {
            let is_kept = loaded.flake.lifetime.is_mutable();
            is_kept.then(|| group(&loaded.flake, &loaded.name).to_owned())
        })
    };
    // What a file that cannot be read had, is known by the instances only.
    let unread = |name: &str| own.iter().any(|listed| listed.name == name && listed.loaded.is_err());
    let unreadable = names.iter().any(|name| unread(name.as_str()));
    let going: Vec<String> = groups(true).collect();
    if going.is_empty() && !unreadable {
        return Ok(Vec::new());
    }
    let mut staying: Vec<String> = groups(false).collect();
    staying.extend(others(session)?);
    let mut kept = everybodys(session)?;
    kept.retain(|one| {
        let is_going = going.contains(&one.instance.group) || is_gone(&one.flake) && unread(&one.flake);
        is_going && !staying.contains(&one.instance.group)
    });
    Ok(kept)
}

/// The groups of the system's flakes that a user calls: their instances are in the same store.
fn others(session: &Session) -> Result<Vec<String>, Failure> {
    if session.caller.is_root() {
        return Ok(Vec::new());
    }
    let registry = Registry::of(&session.caller)?;
    let system = list(&registry)?.into_iter().filter(|listed| listed.scope != session.places.scope);
    let kept =
        system.filter_map(|listed| listed.loaded.ok()).filter(|loaded| loaded.flake.lifetime.is_mutable());
    Ok(kept.map(|loaded| group(&loaded.flake, &loaded.name).to_owned()).collect())
}
