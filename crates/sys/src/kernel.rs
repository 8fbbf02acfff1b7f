//! Which release of Linux runs.

/// Whether the running kernel is of a release or a later one.
#[must_use]
pub fn is_at_least(version: (u32, u32)) -> bool {
    rustix::system::uname().release().to_str().is_ok_and(|release| is_release(release, version))
}

fn is_release(release: &str, version: (u32, u32)) -> bool {
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= version
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_as_numbers() {
        for (release, expected) in [
            ("6.5.0", true),
            ("6.18.44-x", true),
            ("6.4.9", false),
            ("5.15.0-91-generic", false),
            ("7.0", true),
        ] {
            assert_eq!(is_release(release, (6, 5)), expected, "{release}");
        }
    }
}
