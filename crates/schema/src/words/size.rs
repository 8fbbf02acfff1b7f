//! Sizes in bytes, as flake-pilot writes them.

use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;

/// A number of bytes: `20GiB` (powers of 1024), `20GB` (powers of 1000), `1.5 GiB`, or a plain number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

/// Units from the greatest; of two that fit, the first is printed.
const UNITS: &[(&str, u64)] = &[
    ("EiB", 1 << 60),
    ("EB", 1_000_000_000_000_000_000),
    ("PiB", 1 << 50),
    ("PB", 1_000_000_000_000_000),
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1000),
    ("B", 1),
];

impl ByteSize {
    /// A size of this many bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The size in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let wrong = || {
            WordError::new(
                format!("`{}` is no size", crate::error::show(text)),
                "write a number and a unit, `20GiB` or `20GB`, or a number of bytes",
            )
        };
        let text = text.trim();
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (number, unit) = (&text[..digits], text[digits..].trim());
        let unit = match unit {
            "" => 1,
            unit => UNITS
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(unit))
                .map(|u| u.1)
                .ok_or_else(wrong)?,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if number.ends_with('.') || fraction.contains('.') || fraction.len() > 18 {
            return Err(wrong());
        }
        let whole: u128 = whole.parse().map_err(|_| wrong())?;
        let scale = 10u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
        let part: u128 = if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| wrong())? };
        let bytes = whole
            .checked_mul(u128::from(unit))
            .and_then(|bytes| bytes.checked_add(part * u128::from(unit) / scale))
            .and_then(|bytes| u64::try_from(bytes).ok());
        bytes.map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for ByteSize {
    /// The greatest unit that divides the size; small sizes without a unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, unit)| *unit > 1 && self.0 > 0 && self.0.is_multiple_of(*unit)) {
            Some((name, unit)) => write!(f, "{}{name}", self.0 / unit),
            None => self.0.fmt(f),
        }
    }
}

as_text!(ByteSize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for (text, bytes, printed) in [
            ("20GiB", 20 << 30, "20GiB"),
            ("20GB", 20_000_000_000, "20GB"),
            ("20 gib", 20 << 30, "20GiB"),
            ("1.5GiB", 3 << 29, "1536MiB"),
            ("512", 512, "512"),
            ("4096", 4096, "4KiB"),
            ("10B", 10, "10"),
            ("0", 0, "0"),
            ("18446744073709551615", u64::MAX, "18446744073709551615"),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!(size.bytes(), bytes, "{text}");
            assert_eq!(size.to_string(), printed);
        }
        for bad in ["", "GiB", "20G", "-1", "1.", ".5", "1..2", "1.2.3", "16EiB", "1e3", "20 Gi B"] {
            assert!(bad.parse::<ByteSize>().is_err(), "{bad}");
        }
    }
}
