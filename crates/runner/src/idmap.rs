//! Maps of ids, as the kernel writes and reads them (user_namespaces(7)).

use flake_plan::IdMap;
use std::fmt::Write as _;

/// The maps as lines of `/proc/PID/uid_map`.
pub(crate) fn lines(maps: &[IdMap]) -> String {
    maps.iter().fold(String::new(), |mut text, map| {
        let _ = writeln!(text, "{} {} {}", map.inside, map.outside, map.count);
        text
    })
}

/// The maps as words of newuidmap(1).
pub(crate) fn words(maps: &[IdMap]) -> impl Iterator<Item = String> + '_ {
    maps.iter().flat_map(|map| [map.inside, map.outside, map.count]).map(|number| number.to_string())
}

/// Whether the kernel's lines say the same.
pub(crate) fn is_same(maps: &[IdMap], kernels: &str) -> bool {
    let own = maps.iter().flat_map(|map| [map.inside, map.outside, map.count]);
    own.map(|number| number.to_string()).eq(kernels.split_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_compare_by_their_numbers() {
        let maps = [
            IdMap { inside: 0, outside: 1000, count: 1 },
            IdMap { inside: 1, outside: 100_000, count: 65536 },
        ];
        let kernels = "         0       1000          1\n         1     100000      65536\n";
        assert!(is_same(&maps, kernels) && is_same(&maps, &lines(&maps)));
        assert!(!is_same(&maps[..1], kernels) && !is_same(&maps, "0 1000 1\n1 100000 65535\n"));
        assert_eq!(words(&maps[..1]).collect::<Vec<_>>(), ["0", "1000", "1"]);
    }
}
