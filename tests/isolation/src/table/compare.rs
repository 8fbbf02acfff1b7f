//! Comparing two tables, with a list of the differences that have a reason.

use super::Rows;
use super::allowed::Allowed;

/// What differs without being allowed, and what is allowed but does not differ. `name` is the comparison's.
pub(super) fn differences(name: &str, expected: &Rows, found: &Rows, allowed: &[Allowed]) -> Vec<String> {
    let here: Vec<_> =
        allowed.iter().filter(|allowed| fits(allowed.where_, name) && allowed.on.is_here()).collect();
    let mut used = vec![false; here.len()];
    let mut problems = Vec::new();
    let rows: std::collections::BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    for row in rows {
        let value = |rows: &'_ Rows| rows.get(row).map_or("-", String::as_str).to_owned();
        let (podmans, own) = (value(expected), value(found));
        if podmans == own {
            continue;
        }
        let is_meant = |allowed: &Allowed| {
            fits(allowed.row, row) && fits(allowed.podman, &podmans) && fits(allowed.launcher, &own)
        };
        match here.iter().position(|allowed| is_meant(allowed)) {
            Some(index) => used[index] = true,
            None => problems.push(format!("{row}: under podman {podmans:?}, under the launcher {own:?}")),
        }
    }
    let idle = here.iter().zip(used).filter(|(_, used)| !used);
    problems.extend(
        idle.map(|(allowed, _)| format!("allowed, but no difference: {} ({})", allowed.row, allowed.why)),
    );
    problems
}

/// Whether a text is what a pattern says: `*` stands for anything, `|` for one pattern or another.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    pattern.split('|').any(|pattern| fits_one(pattern, text))
}

fn fits_one(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).any(|from| text.is_char_boundary(from) && fits_one(rest, &text[from..]))
}

#[cfg(test)]
mod tests {
    use super::super::allowed::On;
    use super::*;

    fn rows(pairs: &[(&str, &str)]) -> Rows {
        pairs.iter().map(|(row, value)| ((*row).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn patterns_have_gaps_and_alternatives() {
        for (pattern, text) in [("a", "a"), ("*", ""), ("a*c", "abc"), ("a|b*", "bb"), ("*x*", "axa")] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*c", "abd"), ("a|b", "c"), ("", "x")] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn each_difference_and_each_idle_permission_is_told() {
        let allow = |row| Allowed { where_: "*", on: On::Any, row, podman: "1", launcher: "*", why: "" };
        let (podmans, own) = (rows(&[("a", "1"), ("b", "1"), ("c", "2")]), rows(&[("a", "2"), ("b", "1")]));
        let said = differences("x", &podmans, &own, &[allow("a"), allow("b"), allow("c")]);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with("c: under podman \"2\", under the launcher \"-\""), "{said:?}");
        assert!(said[1].contains(": b ") && said[2].contains(": c "), "{said:?}");
    }
}
