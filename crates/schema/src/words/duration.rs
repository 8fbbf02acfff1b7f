//! Lengths of time, written with their unit.

use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A length of time: `500ms`, `30s`, `2m`, `1h30m`, `60d`, `60 d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period(Duration);

/// Units in milliseconds, from the longest.
const UNITS: &[(&str, u64)] =
    &[("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
/// Longest length of time, a thousand years in milliseconds: sums with a clock cannot overflow.
const LONGEST: u64 = 1000 * 366 * 86_400_000;

impl Period {
    /// A length of whole seconds; anything above a thousand years is a thousand years.
    pub const fn from_secs(seconds: u64) -> Self {
        let longest = LONGEST / 1000;
        Self(Duration::from_secs(if seconds > longest { longest } else { seconds }))
    }

    /// The length for `std`.
    pub const fn get(self) -> Duration {
        self.0
    }

    /// True when no time is meant.
    pub const fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    fn millis(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(LONGEST)
    }
}

impl FromStr for Period {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let shown = crate::error::show(text);
        let wrong = |hint: &str| WordError::new(format!("`{shown}` is no length of time"), hint);
        let mut rest = text.trim();
        let mut total: u64 = 0;
        if rest.is_empty() {
            return Err(wrong("write a number and a unit: `30s`"));
        }
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number: u64 =
                rest[..digits].parse().map_err(|_| wrong("write a number and a unit: `30s`"))?;
            rest = rest[digits..].trim_start();
            let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
            let unit = unit(&rest[..letters]).ok_or_else(|| match letters {
                0 => wrong(&format!("the unit is missing: `{number}s`")),
                _ => wrong("units are ms, s, m, h, d, w"),
            })?;
            total = number
                .checked_mul(unit)
                .and_then(|part| part.checked_add(total))
                .filter(|total| *total <= LONGEST)
                .ok_or_else(|| wrong("at most a thousand years"))?;
            rest = rest[letters..].trim_start();
        }
        Ok(Self(Duration::from_millis(total)))
    }
}

fn unit(word: &str) -> Option<u64> {
    let word = match word {
        "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hour" | "hours" => "h",
        "day" | "days" => "d",
        "week" | "weeks" => "w",
        word => word,
    };
    UNITS.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit)
}

impl fmt::Display for Period {
    /// The longest unit (weeks aside) that divides the length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.millis();
        if total == 0 {
            return f.write_str("0s");
        }
        let exact = UNITS.iter().skip(1).find(|(_, unit)| total.is_multiple_of(*unit));
        let (name, unit) = exact.copied().unwrap_or(("ms", 1));
        write!(f, "{}{name}", total / unit)
    }
}

as_text!(Period);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for (text, millis, printed) in [
            ("30s", 30_000, "30s"),
            ("60 d", 60 * 86_400_000, "60d"),
            ("2m", 120_000, "2m"),
            ("90s", 90_000, "90s"),
            ("1h30m", 5_400_000, "90m"),
            ("1h 30 min", 5_400_000, "90m"),
            ("500ms", 500, "500ms"),
            ("0s", 0, "0s"),
            ("2w", 14 * 86_400_000, "14d"),
        ] {
            let period: Period = text.parse().unwrap();
            assert_eq!(period.get(), Duration::from_millis(millis), "{text}");
            assert_eq!(period.to_string(), printed);
        }
        for bad in ["", "s", "30", "3x", "-1s", "1.5s", "99999999999999999999s", "1001y", "40000000d", "é"] {
            assert!(bad.parse::<Period>().is_err(), "{bad}");
        }
    }
}
