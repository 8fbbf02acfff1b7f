//! Values that are written as one word: parsing, printing and their (de)serialisation as text.

mod duration;
mod env;
mod instance;
mod network;
mod port;
mod runas;
mod share;
mod size;
mod unit;
mod workdir;

pub use self::duration::Period;
pub use self::env::EnvEntry;
pub use self::instance::InstanceName;
pub use self::network::{Network, VmNetwork};
pub use self::port::PortForward;
pub use self::runas::RunAs;
pub use self::share::{Reserved, Share, ShareWhat};
pub use self::size::ByteSize;
pub use self::unit::{
    Accel, CacheType, Engine, FlakeType, ProbeAction, ProbeMode, ProvisionMode, ProvisionRun, Scratch,
    Snapshot, User, Vmm,
};
pub use self::workdir::Workdir;

use crate::suggest::nearest;
use serde::de::{Deserialize, Deserializer, Error};
use std::str::FromStr;

/// A word that does not mean anything where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default())]
pub struct WordError {
    /// What is wrong, with the word in it.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl WordError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn unknown(word: &str, known: &[&str]) -> Self {
        let hint = match nearest(word, known) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("one of: {}", known.join(", ")),
        };
        Self::new(format!("unknown word `{}`", crate::error::show(word)), hint)
    }
}

/// Separates message and hint of a [`WordError`] on its way through serde, which carries one string.
pub(crate) const HINT_MARK: char = '\u{1f}';

pub(crate) fn decode<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err = WordError>,
    D: Deserializer<'de>,
{
    String::deserialize(deserializer)?.parse().map_err(|error: WordError| match error.hint {
        Some(hint) => D::Error::custom(format_args!("{}{HINT_MARK}{hint}", error.message)),
        None => D::Error::custom(error.message),
    })
}

/// Makes a type with `Display` and `FromStr` a value of a file, written as text.
macro_rules! as_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::words::decode(deserializer)
            }
        }

        impl $crate::section::Field for $name {}
    };
}

pub(crate) use as_text;
