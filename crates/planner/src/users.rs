//! Whose ids are inside.

use crate::error::Reason;
use flake_plan::{IdMap, UserSpace};
use oci_spec::runtime::{Linux, LinuxIdMapping};

/// The user namespace: the host's for root, else podman's own for the user, and one within it where the
/// specification has one.
pub(crate) fn user_space(
    linux: &Linux,
    has_namespace: bool,
    maps: Option<&(String, String)>,
) -> Result<UserSpace, Reason> {
    let inner = (ranges(linux.uid_mappings().as_ref()), ranges(linux.gid_mappings().as_ref()));
    let Some((users, groups)) = maps else {
        if has_namespace || !inner.0.is_empty() || !inner.1.is_empty() {
            return Err("a user namespace of root's".into());
        }
        return Ok(UserSpace::Host);
    };
    let outer = (lines(users)?, lines(groups)?);
    let inner = has_namespace.then_some(inner);
    if inner.as_ref().is_some_and(|(users, groups)| users.is_empty() || groups.is_empty()) {
        return Err("a user namespace without ids".into());
    }
    // Whose store nobody else can enter.
    let has_caller = |maps: &[IdMap]| maps.iter().any(|map| map.outside == 0 && map.count > 0);
    if inner.as_ref().is_some_and(|(users, groups)| !has_caller(users) || !has_caller(groups)) {
        return Err("a user namespace in which the caller is not".into());
    }
    Ok(UserSpace::Own { outer, inner })
}

fn ranges(mappings: Option<&Vec<LinuxIdMapping>>) -> Vec<IdMap> {
    let range = |mapping: &LinuxIdMapping| IdMap {
        inside: mapping.container_id(),
        outside: mapping.host_id(),
        count: mapping.size(),
    };
    mappings.into_iter().flatten().map(range).collect()
}

/// The lines of `/proc/PID/uid_map` (user_namespaces(7)).
fn lines(text: &str) -> Result<Vec<IdMap>, Reason> {
    let line = |line: &str| {
        let mut numbers = line.split_ascii_whitespace().map(str::parse);
        match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(inside)), Some(Ok(outside)), Some(Ok(count)), None) => {
                Ok(IdMap { inside, outside, count })
            }
            _ => Err(Reason(format!("an id map with the line {:?}", line.trim()))),
        }
    };
    let maps: Vec<_> = text.lines().map(line).collect::<Result<_, _>>()?;
    if maps.is_empty() { Err("a user namespace without ids".into()) } else { Ok(maps) }
}
