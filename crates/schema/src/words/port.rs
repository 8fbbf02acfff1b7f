//! Ports of a VM that appear on the host.

use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;

/// `HOST:GUEST`, or one number for both; TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortForward {
    /// Port on the host.
    pub host: u16,
    /// Port in the guest.
    pub guest: u16,
}

impl FromStr for PortForward {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let number = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0 && !text.starts_with('+'));
        let (host, guest) = text.split_once(':').unwrap_or((text, text));
        match (number(host), number(guest)) {
            (Some(host), Some(guest)) => Ok(Self { host, guest }),
            _ => Err(WordError::new(
                format!("`{}` is no forwarded port", crate::error::show(text)),
                "write `HOST:GUEST`, each between 1 and 65535",
            )),
        }
    }
}

impl fmt::Display for PortForward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.guest)
    }
}

as_text!(PortForward);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms() {
        assert_eq!("8080:80".parse(), Ok(PortForward { host: 8080, guest: 80 }));
        assert_eq!("80".parse(), Ok(PortForward { host: 80, guest: 80 }));
        for bad in ["", ":", "0:80", "80:", "1:2:3", "65536", "+1", "a:b"] {
            assert!(bad.parse::<PortForward>().is_err(), "{bad}");
        }
    }
}
