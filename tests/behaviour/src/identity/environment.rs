//! Which variables pass.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use anyhow::{Result, ensure};
use flake_testkit::Call;

use super::Case;
use super::apps::Apps;

pub(super) const CASES: &[Case] = &[
    ("environment_allow_list", allow_list),
    ("environment_patterns_match_whole_names", whole_names),
    ("environment_values_are_exact", exact),
    ("proxy_variables_pass", proxies),
    ("term_passes", |apps| {
        let mut command = apps.environment();
        command.env("TERM", "vt100");
        let found = variables(command)?;
        ensure!(found.get("TERM").is_some_and(|value| value == "vt100"), "{found:?}");
        Ok(())
    }),
];

fn variables(mut command: Command) -> Result<BTreeMap<String, String>> {
    command.args(["env"]);
    let outcome = Call::new(command).check()?.out();
    let split = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    Ok(outcome.lines().filter_map(split).collect())
}

fn allow_list(apps: &Apps<'_>) -> Result<()> {
    let mut command = apps.environment();
    command.envs([("SECRET", "1"), ("AWS_REGION", "eu"), ("KEY", "of the caller"), ("LD_PRELOAD_X", "1")]);
    let found = variables(command)?;
    for (name, value) in [("AWS_REGION", "eu"), ("KEY", "value"), ("LANG", "C.UTF-8")] {
        ensure!(found.get(name).is_some_and(|found| found == value), "{name}: {found:?}");
    }
    for name in
        ["SECRET", "LD_PRELOAD_X", "XDG_RUNTIME_DIR", "SHELL", "LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET"]
    {
        ensure!(!found.contains_key(name), "{name}: {found:?}");
    }
    // The image has no variables of its own, so beside the list there is what a program cannot do without.
    let known = [
        "AWS_REGION",
        "KEY",
        "LANG",
        "TERM",
        "PATH",
        "HOME",
        "HOSTNAME",
        "container",
        "PWD",
        "SHLVL",
        "TZ",
        "USER",
        "LOGNAME",
    ];
    let others: Vec<_> = found.keys().filter(|name| !known.contains(&name.as_str())).collect();
    ensure!(others.is_empty(), "{others:?}");
    Ok(())
}

fn whole_names(apps: &Apps<'_>) -> Result<()> {
    let mut command = apps.environment();
    command.envs([("MY_AWS_KEY", "1"), ("LANGUAGE", "1"), ("AWS", "1"), ("aws_x", "1"), ("AWS_", "yes")]);
    let found = variables(command)?;
    for name in ["MY_AWS_KEY", "LANGUAGE", "AWS", "aws_x"] {
        ensure!(!found.contains_key(name), "{name}: {found:?}");
    }
    ensure!(found.contains_key("AWS_"), "{found:?}");
    Ok(())
}

fn exact(apps: &Apps<'_>) -> Result<()> {
    let value = b"a b\nc=d\t'\"$x \xff\\";
    let mut command = apps.environment();
    command.env("AWS_RAW", OsStr::from_bytes(value)).env("AWS_EMPTY", "");
    command.args(["sh", "-c", r#"printf %s "$AWS_RAW"; printf %s "${AWS_EMPTY-unset}""#]);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.stdout == value, "{outcome}");
    Ok(())
}

fn proxies(apps: &Apps<'_>) -> Result<()> {
    let names = [
        "http_proxy",
        "https_proxy",
        "ftp_proxy",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "FTP_PROXY",
        "NO_PROXY",
    ];
    let mut command = apps.environment();
    command.envs(names.map(|name| (name, format!("value of {name}"))));
    let found = variables(command)?;
    for name in names {
        ensure!(
            found.get(name).is_some_and(|value| *value == format!("value of {name}")),
            "{name}: {found:?}"
        );
    }
    Ok(())
}
