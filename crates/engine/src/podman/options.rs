//! A flake's own podman options beside those of the launch.

use crate::start::EngineError;
use flake_core::launch::Launch;

/// What the launch does by itself, terminals and streams above all; 3.x files often say it.
const OURS: [&str; 6] = ["--interactive", "--tty", "--rm", "--detach", "--init", "--sig-proxy"];

/// Whether an image is fetched: never by a launch, and podman heeds the last such option.
const PULL: &str = "--pull";

/// What a launch cannot do with, and why.
const REFUSED: [(&str, &str); 3] = [
    ("--pid", "processes of the host or of another container could not be told from those inside"),
    ("--systemd", "the agent is the first process inside"),
    ("--preserve-fds", "descriptors that the command line names as /dev/fd/N are passed anyway"),
];
/// Values with which such an option says what is so anyway.
const ALLOWED: [&str; 3] = ["private", "false", ""];

/// The options that go to podman.
pub(super) fn usable(launch: &Launch) -> Result<Vec<String>, EngineError> {
    usable_of(&launch.options)
}

fn usable_of(options: &[String]) -> Result<Vec<String>, EngineError> {
    let mut usable = Vec::new();
    let mut words = options.iter().peekable();
    while let Some(word) = words.next() {
        if is_ours(word) {
            continue;
        }
        if word == PULL {
            words.next_if(|value| !value.starts_with('-'));
            continue;
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value),
            None => (word.as_str(), words.peek().map_or("", |next| next.as_str())),
        };
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name)
            && !ALLOWED.contains(&value)
        {
            return Err(EngineError::Option { option: format!("{name}={value}"), why });
        }
        usable.push(word.clone());
    }
    Ok(usable)
}

fn is_ours(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let cluster = word.strip_prefix('-').filter(|letters| !letters.starts_with('-') && !letters.is_empty());
    OURS.contains(&name)
        || word.split_once('=').is_some_and(|(name, _)| name == PULL)
        || cluster.is_some_and(|letters| letters.bytes().all(|letter| b"itd".contains(&letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launch_does_itself_is_left_out() {
        for word in ["-i", "-t", "-it", "-ti", "-d", "--tty", "--interactive=true", "--rm", "--init"] {
            assert!(is_ours(word), "{word}");
        }
        for word in ["-v", "-e", "--init-path", "--volume", "-", "--", "-iv", "--rmi"] {
            assert!(!is_ours(word), "{word}");
        }
    }

    #[test]
    fn a_launch_never_pulls() {
        for pull in [&["--pull=always"][..], &["--pull", "newer"], &["--pull"]] {
            let all = ["-v", "/a"].iter().chain(pull).chain(&["--privileged"]);
            let all: Vec<_> = all.map(|word| (*word).to_owned()).collect();
            assert_eq!(usable_of(&all).unwrap(), ["-v", "/a", "--privileged"], "{pull:?}");
        }
    }
}
