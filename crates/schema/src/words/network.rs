//! The network an application sees.

use super::unit::unit_words;
use super::{HINT_MARK, WordError, as_text};
use crate::section::Field;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;
use std::str::FromStr;

unit_words! {
    /// The network of a container.
    pub enum Network {
        /// The host's own network.
        Host = "host",
        /// No network but loopback.
        None = "none",
        /// A network of its own that reaches outside.
        Private = "private",
    }
}

/// The network of a VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VmNetwork {
    /// No network but loopback.
    None,
    /// A network of its own that reaches outside.
    Private,
    /// An existing tap device of the host; written `{tap: NAME}`, also read from `tap:NAME`.
    Tap(String),
}

const WORDS: &[&str] = &["none", "private"];
/// Before the name of a tap device in formats that do not describe themselves.
const TAP: &str = "tap:";
/// Longest name of a network interface, in bytes.
const IFNAME_MAX: usize = 15;

impl VmNetwork {
    fn from_word(word: &str) -> Result<Self, WordError> {
        match word {
            "none" => Ok(Self::None),
            "private" => Ok(Self::Private),
            word if word.starts_with(TAP) => Self::tap(word[TAP.len()..].to_owned()),
            "host" => Err(WordError::new("a VM cannot use the host's own network", "write `private`")),
            _ => Err(WordError::unknown(word, WORDS)),
        }
    }

    fn tap(name: String) -> Result<Self, WordError> {
        let fits = !name.is_empty() && name.len() <= IFNAME_MAX && name != "." && name != "..";
        if fits && name.bytes().all(|b| b.is_ascii_graphic() && b != b'/' && b != b':') {
            return Ok(Self::Tap(name));
        }
        Err(WordError::new(
            format!("`{}` is no name of a network interface", crate::error::show(&name)),
            "at most 15 letters, digits, dots, dashes",
        ))
    }
}

impl Serialize for VmNetwork {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Private => serializer.serialize_str("private"),
            Self::Tap(name) if !serializer.is_human_readable() => {
                serializer.collect_str(&format_args!("{TAP}{name}"))
            }
            Self::Tap(name) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("tap", name)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for VmNetwork {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(WordOrTap)
        } else {
            deserializer.deserialize_str(WordOrTap)
        }
    }
}

impl Field for VmNetwork {}

struct WordOrTap;

fn carry<E: Error>(error: WordError) -> E {
    E::custom(format_args!("{}{HINT_MARK}{}", error.message, error.hint.unwrap_or_default()))
}

impl<'de> Visitor<'de> for WordOrTap {
    type Value = VmNetwork;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`none`, `private` or `{tap: NAME}`")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<VmNetwork, E> {
        VmNetwork::from_word(word).map_err(carry)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VmNetwork, A::Error> {
        let Some(key) = map.next_key::<String>()? else {
            return Err(A::Error::custom("expected `{tap: NAME}`"));
        };
        if key != "tap" {
            return Err(A::Error::unknown_field(&key, &["tap"]));
        }
        let network = VmNetwork::tap(map.next_value()?).map_err(carry)?;
        match map.next_key::<String>()? {
            None => Ok(network),
            Some(key) => Err(A::Error::unknown_field(&key, &["tap"])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tap_name_fits_an_interface() {
        assert_eq!(VmNetwork::tap("tap-a".into()), Ok(VmNetwork::Tap("tap-a".into())));
        for bad in ["", "a/b", "a b", "sixteen-letters-", ".."] {
            assert!(VmNetwork::tap(bad.into()).is_err(), "{bad}");
        }
    }

    #[test]
    fn host_is_for_containers() {
        assert_eq!("host".parse(), Ok(Network::Host));
        assert!(VmNetwork::from_word("host").is_err());
        assert_eq!(VmNetwork::from_word("tap:t0"), Ok(VmNetwork::Tap("t0".into())));
    }
}
