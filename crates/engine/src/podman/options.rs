//! A flake's own podman options beside those of the launch.

use crate::start::EngineError;
use flake_core::launch::Launch;

/// What the launch does by itself, terminals and streams above all; 3.x files often say it.
const OURS: [&str; 6] = ["--interactive", "--tty", "--rm", "--detach", "--init", "--sig-proxy"];

/// The options that go to podman.
pub(super) fn usable(launch: &Launch) -> Result<Vec<String>, EngineError> {
    let mut usable = Vec::new();
    let mut words = launch.options.iter().peekable();
    while let Some(word) = words.next() {
        if is_ours(word) {
            continue;
        }
        let shares_processes =
            word == "--pid=host" || word == "--pid" && words.peek().is_some_and(|next| *next == "host");
        if shares_processes {
            return Err(EngineError::Option {
                option: "--pid=host".to_owned(),
                why: "processes of the host could not be told from those inside",
            });
        }
        usable.push(word.clone());
    }
    Ok(usable)
}

fn is_ours(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let cluster = word.strip_prefix('-').filter(|letters| !letters.starts_with('-') && !letters.is_empty());
    OURS.contains(&name)
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
}
