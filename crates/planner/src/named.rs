//! Files that options name and podman reads when it makes a container.

use crate::error::Reason;
use std::path::{Path, PathBuf};

const SECURITY: &str = "--security-opt";
/// The value that is no file.
const UNCONFINED: &str = "unconfined";
/// Takes a line of the host's users over.
const HOST_USER: &str = "--hostuser";
const USERS: &str = "/etc/passwd";
const ZONE: &str = "--tz";
/// The value for the host's own zone, which every plan stands on.
const LOCAL: &str = "local";
const ZONES: &str = "/usr/share/zoneinfo";

/// The files. What is inside a bind is none of them.
pub(crate) fn files(options: &[String]) -> Result<Vec<PathBuf>, Reason> {
    let mut files = Vec::new();
    let mut words = options.iter().peekable();
    while let Some(word) = words.next() {
        let next = words.peek().map(|next| next.as_str());
        let value = |option: &str| match word.strip_prefix(option) {
            Some("") => next,
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        if value(HOST_USER).is_some() {
            files.push(PathBuf::from(USERS));
        }
        files.extend(value(ZONE).filter(|zone| *zone != LOCAL).map(zone));
        // The colon is an older way to write it (podman-create(1)).
        let file = value(SECURITY).and_then(|value| value.strip_prefix("seccomp")?.strip_prefix(['=', ':']));
        match file.filter(|file| !file.is_empty() && *file != UNCONFINED) {
            Some(file) if file.starts_with('/') => files.push(PathBuf::from(file)),
            Some(file) => return Err(format!("{file}, a file looked for anew at each call").into()),
            None => {}
        }
    }
    Ok(files)
}

/// The file of a time zone by its name.
pub(crate) fn zone(name: &str) -> PathBuf {
    Path::new(ZONES).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &[&str]) -> Result<Vec<PathBuf>, Reason> {
        files(&options.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_filter_of_system_calls_is_a_file() {
        for options in [
            &["--security-opt=seccomp=/a"][..],
            &["--security-opt", "seccomp=/a"],
            &["-v", "/b:/b", "--security-opt", "seccomp:/a", "--security-opt=label=disable"],
        ] {
            assert_eq!(of(options), Ok(vec![PathBuf::from("/a")]), "{options:?}");
        }
        assert_eq!(
            of(&["--security-opt=seccomp=unconfined", "--security-opt", "no-new-privileges"]),
            Ok(vec![])
        );
    }

    #[test]
    fn users_and_time_zones_are_in_files() {
        let files = ["/etc/passwd", "/usr/share/zoneinfo/Etc/UTC"].map(PathBuf::from);
        assert_eq!(of(&["--hostuser=ada", "--tz=Etc/UTC"]).as_deref(), Ok(&files[..]));
        assert_eq!(of(&["--hostuser", "ada", "--tz", "Etc/UTC"]).as_deref(), Ok(&files[..]));
        assert_eq!(of(&["--tz=local", "--tz", "local"]), Ok(vec![]));
    }

    #[test]
    fn one_of_the_callers_folder_is_looked_for_anew() {
        let reason = of(&["--security-opt=seccomp=a.json"]).unwrap_err().0;
        assert_eq!(reason, "a.json, a file looked for anew at each call");
    }
}
