//! What was shown on the shared terminal last: what newcomers see first, and what others still have to get.

use std::collections::VecDeque;

/// How much a newcomer is shown, and how far the slowest may be behind, in bytes.
pub(crate) const MOST: usize = 64 << 10;

/// The end of an output, whose bytes are counted from its beginning.
#[derive(Debug, Default)]
pub(crate) struct History {
    bytes: VecDeque<u8>,
    end: u64,
}

impl History {
    /// How much was shown altogether.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Where what is kept begins.
    pub(crate) fn start(&self) -> u64 {
        self.end - self.bytes.len() as u64
    }

    /// Appends what was shown; the oldest goes.
    pub(crate) fn push(&mut self, shown: &[u8]) {
        self.bytes.extend(shown);
        self.end += shown.len() as u64;
        let over = self.bytes.len().saturating_sub(MOST);
        self.bytes.drain(..over);
    }

    /// What follows a place, as far as it lies in one piece: empty only at the end.
    pub(crate) fn after(&self, place: u64) -> &[u8] {
        let skip = usize::try_from(place.saturating_sub(self.start())).unwrap_or(usize::MAX);
        let (first, second) = self.bytes.as_slices();
        match first.get(skip..).filter(|rest| !rest.is_empty()) {
            Some(rest) => rest,
            None => second.get(skip.saturating_sub(first.len())..).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_it_is_kept_and_found_by_its_place() {
        let mut history = History::default();
        let mut all = Vec::new();
        for round in 0..200_u8 {
            let shown = vec![round; 777];
            history.push(&shown);
            all.extend(shown);
        }
        assert_eq!(history.end(), all.len() as u64);
        assert_eq!(history.start(), (all.len() - MOST) as u64);
        let mut place = history.start();
        let mut found = Vec::new();
        while place < history.end() {
            let piece = history.after(place);
            assert!(!piece.is_empty());
            place += piece.len() as u64;
            found.extend_from_slice(piece);
        }
        assert_eq!(found, all[all.len() - MOST..]);
        assert!(history.after(place).is_empty());
    }
}
