//! What is said of one command's image.

use crate::output;
use flake_core::pin;
use flake_core::store::StoredImage;
use flake_core::update::{Change, Outlook};
use flake_schema::Loaded;
use serde::Serialize;

/// How much of an id or digest people need.
const SHORT: usize = 12;

/// One command.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    name: String,
    image: String,
    before: Option<Side>,
    after: Side,
    changed: bool,
}

/// An image as it is told from another.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Side {
    /// Its id in the store; unknown as long as it was not fetched.
    id: Option<String>,
    /// The digest of its manifest.
    digest: Option<String>,
}

impl Side {
    fn of(image: &StoredImage) -> Self {
        Self { id: Some(image.id.clone()), digest: image.digests.first().cloned() }
    }
}

impl Row {
    /// Of a change that was made or could be.
    pub(super) fn of(loaded: &Loaded, change: &Change) -> Self {
        Self {
            name: loaded.name.to_string(),
            image: image(loaded),
            before: change.before.as_ref().map(Side::of),
            after: Side::of(&change.after),
            changed: !change.is_none(),
        }
    }

    /// Of a change to what a registry has.
    pub(super) fn with_digest(loaded: &Loaded, outlook: &Outlook, digest: &str) -> Self {
        let current = outlook.current.as_ref();
        let is_same = current.is_some_and(|current| current.digests.iter().any(|known| known == digest));
        let before = current.map(Side::of);
        let after = match (&before, is_same) {
            (Some(Side { id, .. }), true) => Side { id: id.clone(), digest: Some(digest.to_owned()) },
            _ => Side { id: None, digest: Some(digest.to_owned()) },
        };
        Self { name: loaded.name.to_string(), image: image(loaded), before, after, changed: !is_same }
    }

    /// Both sides in the same terms: digests, or ids where one has none.
    fn shown(&self) -> (Option<&str>, Option<&str>) {
        let before = self.before.as_ref();
        let digests = (before.and_then(|before| before.digest.as_deref()), self.after.digest.as_deref());
        match digests {
            (None, _) | (_, None) if before.is_some() => {
                (before.and_then(|before| before.id.as_deref()), self.after.id.as_deref())
            }
            digests => digests,
        }
    }
}

impl output::Row for Row {
    const HEADINGS: &'static [&'static str] = &["NAME", "IMAGE", "BEFORE", "AFTER"];

    fn cells(&self) -> Vec<Option<String>> {
        let (before, after) = self.shown();
        let own = |text: &str| Some(text.to_owned());
        vec![own(&self.name), own(&self.image), before.and_then(own), after.and_then(own)]
    }

    fn short_cells(&self) -> Vec<Option<String>> {
        let (before, after) = self.shown();
        let mut cells = self.cells();
        cells[2] = before.map(short);
        cells[3] = if self.changed { after.map(short) } else { Some("unchanged".to_owned()) };
        cells
    }
}

/// The reference in the flake file.
fn image(loaded: &Loaded) -> String {
    pin::image_of(&loaded.flake).unwrap_or_default().to_owned()
}

/// The beginning of an id, or of a digest with the name of its algorithm.
fn short(text: &str) -> String {
    match text.split_once(':') {
        Some((algorithm, sum)) => format!("{algorithm}:{}", sum.chars().take(SHORT).collect::<String>()),
        None => text.chars().take(SHORT).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Row as _;

    #[test]
    fn both_sides_are_told_in_the_same_terms() {
        let side = |id: Option<&str>, digest: Option<&str>| Side {
            id: id.map(str::to_owned),
            digest: digest.map(str::to_owned),
        };
        let row = |before, after, changed| Row {
            name: "joe".into(),
            image: "x".into(),
            before: Some(before),
            after,
            changed,
        };
        let full = "sha256:0123456789abcdef";
        let shown = |row: &Row| row.short_cells()[2..].to_vec();
        let changed = row(side(Some("1"), Some(full)), side(None, Some("sha256:ff")), true);
        assert_eq!(shown(&changed), [Some("sha256:0123456789ab".to_owned()), Some("sha256:ff".to_owned())]);
        let ids = row(side(Some("0123456789abcdef"), None), side(Some("2"), Some(full)), true);
        assert_eq!(shown(&ids), [Some("0123456789ab".to_owned()), Some("2".to_owned())]);
        let same = row(side(Some("1"), Some(full)), side(Some("1"), Some(full)), false);
        assert_eq!(shown(&same)[1].as_deref(), Some("unchanged"));
    }
}
