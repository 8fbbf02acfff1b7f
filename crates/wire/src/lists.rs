//! Lists of a bounded number of entries: an empty one takes a byte on its way and many times that where it arrives.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// Room that is made on the peer's word, in entries.
const BELIEVED: usize = 1 << 10;

/// For `deserialize_with`: a list of at most `MOST` entries.
pub(crate) fn bounded<'de, D, T, const MOST: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Bounded::<T, MOST>(PhantomData))
}

struct Bounded<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Bounded<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MOST} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let announced = list.size_hint().unwrap_or(0);
        let mut entries = Vec::with_capacity(announced.min(BELIEVED).min(MOST));
        while let Some(entry) = list.next_element()? {
            if entries.len() == MOST {
                return Err(A::Error::invalid_length(announced, &self));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}
