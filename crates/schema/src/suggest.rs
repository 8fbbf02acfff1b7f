//! Finds the known word nearest to a mistyped one.

/// Longest word looked at; longer ones are no typing mistake of a key.
const LONGEST: usize = 48;

/// The known word nearest to `word`, when it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = plain(word);
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    known
        .iter()
        .map(|candidate| (distance(&word, &plain(candidate)), *candidate))
        .filter(|(distance, candidate)| *distance <= tolerance(word.len().max(candidate.chars().count())))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// True when two keys are the same but for dashes, underscores.
pub(crate) fn same_key(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| a == b || (is_dash(a) && is_dash(b)))
}

fn is_dash(byte: u8) -> bool {
    matches!(byte, b'-' | b'_')
}

fn plain(word: &str) -> Vec<char> {
    word.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

fn tolerance(len: usize) -> usize {
    match len {
        0..=2 => 0,
        3..=4 => 1,
        5..=8 => 2,
        _ => 3,
    }
}

/// Edit distance in which a swap of two neighbours counts once.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typing_mistakes_only() {
        let known = ["container", "include", "engine", "vm", "type"];
        assert_eq!(nearest("conatiner", &known), Some("container"));
        assert_eq!(nearest("includes", &known), Some("include"));
        assert_eq!(nearest("Engine", &known), Some("engine"));
        assert_eq!(nearest("tpye", &known), Some("type"));
        assert_eq!(nearest("network", &known), None);
        assert_eq!(nearest("x", &known), None);
        assert_eq!(nearest(&"c".repeat(4000), &known), None);
    }

    #[test]
    fn dashes_are_underscores() {
        assert!(same_key("overlay-size", "overlay_size"));
        assert!(!same_key("overlay-size", "overlaysize"));
        assert!(!same_key("overlay", "overlap"));
    }

    #[test]
    fn short_words_need_to_be_close() {
        assert_eq!(nearest("hots", &["host", "none", "private"]), Some("host"));
        assert_eq!(nearest("no", &["host", "none", "private"]), None);
    }
}
