//! What of podman's configuration (containers.conf(5)) is another thing at each call, or names files that nobody
//! watches.

use crate::error::Reason;
use crate::options;
use flake_plan::Basis;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Names the only file that podman reads.
const ONLY: &str = "CONTAINERS_CONF";
/// Names one that comes on top of all.
const ON_TOP: &str = "CONTAINERS_CONF_OVERRIDE";
/// Keys whose values are files, or take the caller's environment into the container.
const KEYS: [&str; 5] = ["base_hosts_file", "env_host", "hooks_dir", "http_proxy", "seccomp_profile"];
/// Variables of a container; one without a value has the caller's, which must not get into a plan either.
const ENV: &str = "env";
/// Looks at one entry of a list.
type Check = fn(&str) -> Result<(), Reason>;

/// Lists of what options of these names say.
const LISTS: [(&str, Check); 2] = [("volumes", options::check_volume), ("mounts", options::check_mount)];
/// Values that ask for nothing.
const NOTHING: [&str; 4] = ["false", "\"\"", "''", "[]"];

/// Looks at the files in force.
pub(crate) fn check(basis: &Basis) -> Result<(), Reason> {
    for path in in_force(basis) {
        match fs::read_to_string(&path) {
            Ok(text) => check_text(&text).map_err(|what| Reason(format!("{what} in {}", path.display())))?,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(format!("{}, which cannot be read ({error})", path.display()).into()),
        }
    }
    Ok(())
}

/// The files of that kind which the plan stands on.
fn in_force(basis: &Basis) -> Vec<PathBuf> {
    let named = |variable: &str| {
        let found = basis.variables.iter().find(|(name, _)| name == variable);
        found.and_then(|(_, value)| value.as_ref()).filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    let is_one = |path: &Path| {
        let is_more = path.extension().is_some_and(|extension| extension == "conf")
            && path.parent().is_some_and(|folder| folder.ends_with("containers.conf.d"));
        path.ends_with("containers.conf") || is_more
    };
    let all = || basis.files.iter().map(|file| file.path.clone()).filter(|path| is_one(path)).collect();
    let mut files = named(ONLY).map_or_else(all, |only| vec![only]);
    files.extend(named(ON_TOP));
    files
}

/// Line by line (toml.io): what only looks like a key counts as one. Says which key stands in the way, or what in it.
fn check_text(text: &str) -> Result<(), String> {
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if let Some((left, value)) = line.split_once('=').filter(|(left, _)| !left.contains('#')) {
            let key = left.rsplit('.').next().unwrap_or(left).trim_matches([' ', '\t', '"', '\'']);
            let value = value.split('#').next().unwrap_or_default().trim();
            // It may go on in the lines that follow.
            let whole = rest.get(left.len() + 1..).unwrap_or_default();
            if let Some((_, check)) = LISTS.iter().find(|(list, _)| *list == key) {
                let entries = entries(whole).ok_or_else(|| key.to_owned())?;
                entries.into_iter().try_for_each(check).map_err(|reason| reason.0)?;
            }
            if key == ENV && entries(whole).is_none_or(|all| all.iter().any(|entry| !entry.contains('=')))
                || KEYS.contains(&key) && !NOTHING.contains(&value)
                // A table in one line.
                || value.starts_with('{')
            {
                return Err(key.to_owned());
            }
        }
        rest = after;
    }
    Ok(())
}

/// The strings of an array, as they are written; nothing where it is none.
fn entries(array: &str) -> Option<Vec<&str>> {
    let mut rest = array.trim_start().strip_prefix('[')?;
    let mut entries = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ',']);
        let mut signs = rest.chars();
        match signs.next()? {
            ']' => return Some(entries),
            '#' => rest = rest.split_once('\n').map_or("", |(_, after)| after),
            quote @ ('"' | '\'') => {
                let (entry, after) = entry(signs.as_str(), quote)?;
                entries.push(entry);
                rest = after;
            }
            _ => return None,
        }
    }
}

/// A string's content and what is behind it; a backslash takes what follows it in one with double quotes.
fn entry(text: &str, quote: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.find(|sign| {
        let is_end = sign == quote && !is_escaped;
        is_escaped = sign == '\\' && quote == '"' && !is_escaped;
        is_end
    })?;
    let (entry, after) = text.split_at(end);
    Some((entry, after.strip_prefix(quote)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn what_is_the_same_at_each_call_passes() {
        for text in [
            "",
            "[containers]\n#seccomp_profile = \"/x\"\n  # env = [\"A\"]\npids_limit = 5 # env_host = true\n",
            "env = []\nenv_host = false # not\nhooks_dir=[]\nseccomp_profile = \"\"",
            "env = [\"A=b\", # first\n  'C=d',\n  \"E=\\\"]\",\n]\nvolumes = [\"/a:/b\", 'name:/c:ro']\n",
            "volumes = []\nmounts = [\"type=bind,src=/a,dst=/b\"]\n",
        ] {
            assert_eq!(check_text(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_is_not_is_named() {
        for (text, key) in [
            ("[containers]\nseccomp_profile = \"/x\"\n", "seccomp_profile"),
            ("[containers]\r\n\tbase_hosts_file=\"none\"\r\n", "base_hosts_file"),
            ("[engine]\n\"hooks_dir\" = [\n\"/x\",\n]\n", "hooks_dir"),
            ("containers.env_host = true", "env_host"),
            ("env = [\"A=b\", \"MYV\"]", "env"),
            ("env = [\n  \"A=b\", # one = two\n  'MYV'\n]", "env"),
            ("env = [\"A=b\"", "env"),
            ("volumes = [\n'/a:/b',\n\"./x:/c\"]", "the folder ./x, which is another one at each call"),
            ("volumes = ['/a:/b:ro,U']", "/a, which podman gives to the container's user at each call (U)"),
            ("volumes = '/a:/b'", "volumes"),
            ("mounts = ['type=bind,src=x,dst=/b']", "the folder x, which is another one at each call"),
            ("containers = { env = [\"MYV\"] }", "containers"),
        ] {
            assert_eq!(check_text(text), Err(key.to_owned()), "{text}");
        }
    }

    #[test]
    fn files_that_variables_name_count() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("mine");
        fs::write(&named, "env = [\"MYV\"]\n").unwrap();
        for variable in [ONLY, ON_TOP] {
            let variables = vec![(variable.to_owned(), Some(OsString::from(&named)))];
            let basis = Basis { files: Vec::new(), variables, ..Basis::now([], std::path::Path::new("/")) };
            let reason = check(&basis).unwrap_err().0;
            assert_eq!(reason, format!("env in {}", named.display()));
        }
    }
}
