//! Which of the caller's variables reach the application.

use crate::caller::Caller;
use flake_schema::EnvEntry;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Always passed: what the terminal is, and how the network is reached.
const ALWAYS: [&str; 11] = [
    "TERM",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
];

/// The variables that a launch sets on top of the image's own.
#[must_use]
pub fn select(entries: &[EnvEntry], caller: &Caller) -> BTreeMap<OsString, OsString> {
    let passes = |name: &OsStr| {
        name.to_str()
            .is_some_and(|name| ALWAYS.contains(&name) || entries.iter().any(|entry| entry.passes(name)))
    };
    let mut selected: BTreeMap<OsString, OsString> = caller
        .env
        .iter()
        .filter(|(name, _)| passes(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for entry in entries {
        if let EnvEntry::Set { name, value } = entry {
            selected.insert(name.into(), value.into());
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_variables_pass() {
        let mut caller = Caller::with_id(0, 0).unwrap();
        for (name, value) in
            [("TERM", "xterm"), ("AWS_KEY", "k"), ("AWSX", "no"), ("LANG", "C"), ("SECRET", "s")]
        {
            caller.env.insert(name.into(), value.into());
        }
        let entries = ["AWS_*", "LANG", "MODE=fast", "LANG=de"].map(|entry| entry.parse().unwrap());
        let selected = select(&entries, &caller);
        let shown: Vec<String> = selected
            .iter()
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
            .collect();
        assert_eq!(shown, ["AWS_KEY=k", "LANG=de", "MODE=fast", "TERM=xterm"]);
    }
}
