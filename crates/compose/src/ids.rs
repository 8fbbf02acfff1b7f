//! Which user and group ids of the host stand for which ids inside.

use std::num::ParseIntError;

/// A run of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    inside: u32,
    outside: u32,
    count: u32,
}

/// A map of ids, as user_namespaces(7) has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map(Vec<Run>);

/// The maps of an engine's store: its layers have ids of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    /// User ids.
    pub users: Map,
    /// Group ids.
    pub groups: Map,
}

/// Not the text of a map.
#[derive(Debug, thiserror::Error)]
#[error("not a map of ids: {0:?}")]
pub struct MapError(String);

impl Map {
    /// Every id is itself: the store is root's.
    #[must_use]
    pub fn same() -> Self {
        Self(vec![Run { inside: 0, outside: 0, count: u32::MAX }])
    }

    /// Reads `uid_map` or `gid_map` of proc(5): first id inside, first id outside, how many.
    ///
    /// # Errors
    /// [`MapError`].
    pub fn parse(text: &str) -> Result<Self, MapError> {
        let run = |line: &str| {
            let numbers: Result<Vec<u32>, ParseIntError> = line.split_whitespace().map(str::parse).collect();
            match numbers.as_deref() {
                Ok(&[inside, outside, count]) => Ok(Run { inside, outside, count }),
                _ => Err(MapError(line.to_owned())),
            }
        };
        text.lines().filter(|line| !line.trim().is_empty()).map(run).collect::<Result<_, _>>().map(Self)
    }

    /// The id inside of one of the host.
    #[must_use]
    pub fn inside(&self, outside: u32) -> Option<u32> {
        self.0.iter().find_map(|run| {
            let offset = outside.checked_sub(run.outside).filter(|offset| *offset < run.count)?;
            run.inside.checked_add(offset)
        })
    }
}

impl Ids {
    /// Those of root's store.
    #[must_use]
    pub fn same() -> Self {
        Self { users: Map::same(), groups: Map::same() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_host_have_ids_inside() {
        let map = Map::parse("         0       1000          1\n         1     100000      65536\n").unwrap();
        for (outside, inside) in
            [(1000, Some(0)), (100000, Some(1)), (165535, Some(65536)), (165536, None), (0, None)]
        {
            assert_eq!(map.inside(outside), inside, "{outside}");
        }
        assert_eq!(Map::same().inside(7), Some(7));
        assert!(Map::parse("0 0").is_err() && Map::parse("0 -1 1").is_err());
    }
}
