//! Sizes of windows.

use flake_wire::Window;

/// The smallest of several, each side for itself. A side that is not known, which is 0, does not count.
pub(crate) fn smallest(windows: impl Iterator<Item = Window>) -> Option<Window> {
    windows.reduce(|one, other| Window {
        rows: least(one.rows, other.rows),
        columns: least(one.columns, other.columns),
        width: least(one.width, other.width),
        height: least(one.height, other.height),
    })
}

fn least(one: u16, other: u16) -> u16 {
    match (one, other) {
        (0, known) | (known, 0) => known,
        (one, other) => one.min(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_is_that_of_whoever_has_least() {
        let window = |rows, columns| Window { rows, columns, width: 0, height: 0 };
        let windows = [window(24, 200), window(60, 80), window(0, 0)];
        assert_eq!(smallest(windows.into_iter()), Some(window(24, 80)));
        assert_eq!(smallest(std::iter::empty()), None);
    }
}
