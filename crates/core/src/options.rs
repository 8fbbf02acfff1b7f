//! Engine options of a flake file: `--option value`, split once at the first blank, with `%NAME` for a
//! variable of the caller's.

use crate::caller::Caller;

/// Which variables an option may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variables {
    /// The caller's environment.
    Environment,
    /// What the caller's passwd entry says, for a launch with more rights than the caller's: the
    /// environment is whatever the caller likes.
    Passwd,
}

/// A value may itself hold names, so often at most.
const ROUNDS: usize = 10;

/// The words of one option.
#[must_use]
pub fn words(option: &str, caller: &Caller, variables: Variables) -> Vec<String> {
    let (name, value) = match option.split_once(char::is_whitespace) {
        Some((name, value)) => (name, Some(value.trim_start())),
        None => (option, None),
    };
    let expanded = |text: &str| expand(text, caller, variables);
    // 3.x files guard the dashes with a backslash, as its command line did.
    std::iter::once(expanded(name.trim_start_matches('\\'))).chain(value.map(expanded)).collect()
}

/// Whether the option is a volume from a path of the host that does not exist.
#[must_use]
pub fn is_volume_without_source(words: &[String]) -> bool {
    let value = match words {
        [name, value, ..] if name == "--volume" || name == "-v" => value.as_str(),
        [joined] => joined.strip_prefix("--volume=").unwrap_or_default(),
        _ => "",
    };
    let source = value.split(':').next().unwrap_or_default();
    source.starts_with('/') && !std::path::Path::new(source).exists()
}

fn expand(text: &str, caller: &Caller, variables: Variables) -> String {
    let mut text = text.to_owned();
    for _ in 0..ROUNDS {
        let next = expand_once(&text, caller, variables);
        // Bounded: names that double each round would not end otherwise.
        if next == text || next.len() > 64 << 10 {
            break;
        }
        text = next;
    }
    text
}

fn expand_once(text: &str, caller: &Caller, variables: Variables) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        let end = after.find(|sign: char| !sign.is_ascii_uppercase()).unwrap_or(after.len());
        let (name, behind) = after.split_at(end);
        expanded.push_str(before);
        if name.is_empty() {
            expanded.push('%');
        } else {
            expanded.push_str(&value(name, caller, variables).unwrap_or_else(|| format!("${name}")));
        }
        rest = behind;
    }
    expanded + rest
}

fn value(name: &str, caller: &Caller, variables: Variables) -> Option<String> {
    match (variables, name) {
        (Variables::Environment, _) => {
            caller.env.get(name.as_ref() as &std::ffi::OsStr)?.to_str().map(str::to_owned)
        }
        (Variables::Passwd, "USER" | "LOGNAME") => Some(caller.name.clone()),
        (Variables::Passwd, "HOME") => caller.home.to_str().map(str::to_owned),
        (Variables::Passwd, "SHELL") => caller.shell.to_str().map(str::to_owned),
        (Variables::Passwd, "UID") => Some(caller.uid.to_string()),
        (Variables::Passwd, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Caller {
        let mut caller =
            Caller { name: "ada".into(), home: "/home/ada".into(), ..Caller::with_id(0, 0).unwrap() };
        for (name, value) in [("HOME", "/somewhere"), ("A", "%B"), ("B", "end"), ("LOOP", "%LOOP%LOOP")] {
            caller.env.insert(name.into(), value.into());
        }
        caller
    }

    #[test]
    fn options_split_once_at_the_first_blank() {
        let split = |option| words(option, &caller(), Variables::Environment);
        assert_eq!(split("--volume /a b:/c d"), ["--volume", "/a b:/c d"]);
        assert_eq!(split("\\--volume x"), ["--volume", "x"]);
        assert_eq!(split("--privileged"), ["--privileged"]);
    }

    #[test]
    fn names_expand_in_bounds() {
        let split = |option| words(option, &caller(), Variables::Environment);
        assert_eq!(split("--volume %HOME:/h"), ["--volume", "/somewhere:/h"]);
        assert_eq!(split("-e %A"), ["-e", "end"]);
        assert_eq!(split("-e %UNSETX 100% %d"), ["-e", "$UNSETX 100% %d"]);
        assert!(split("-e %LOOP")[1].len() <= 64 << 10);
    }

    #[test]
    fn a_missing_volume_is_seen() {
        let missing = |option| is_volume_without_source(&words(option, &caller(), Variables::Environment));
        assert!(missing("--volume /no/such/path:/x") && missing("--volume=/no/such/path:/x"));
        assert!(!missing("--volume /etc:/x") && !missing("--volume name:/x") && !missing("--env /no:/x"));
    }

    #[test]
    fn with_more_rights_only_the_passwd_entry_counts() {
        let split = |option| words(option, &caller(), Variables::Passwd);
        assert_eq!(split("-v %HOME:%USER:%A"), ["-v", "/home/ada:ada:$A"]);
    }
}
