//! Includes, packages, scripts, probes.

use super::Problem;
use crate::flake::{FlakeFile, Probe, Provision};
use crate::words::{Period, ProbeMode, ProvisionRun};

pub(super) fn check(file: &FlakeFile, mutable: bool, problems: &mut Vec<Problem>) {
    for (index, step) in file.provision.iter().flatten().enumerate() {
        provision(step, &format!("provision[{index}]"), mutable, problems);
    }
    for (index, probe) in file.probes.iter().flatten().enumerate() {
        self::probe(probe, &format!("probes[{index}]"), problems);
    }
    for name in file.param.iter().flat_map(|param| param.keys()) {
        let mut bytes = name.bytes();
        let first = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        if !first || !bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            let message = format!("`{}` cannot be the name of a variable", crate::error::show(name));
            problems.push(Problem::new("param", message).hint("letters, digits and `_`, not a digit first"));
        }
    }
    let include = file.include.as_ref();
    let lists = [
        ("include.tar", include.and_then(|i| i.tar.as_ref())),
        ("include.path", include.and_then(|i| i.path.as_ref())),
        ("hostsystem", file.hostsystem.as_ref()),
    ];
    for (path, list) in lists {
        for (index, _) in list.into_iter().flatten().enumerate().filter(|(_, item)| item.trim().is_empty()) {
            problems.push(Problem::new(format!("{path}[{index}]"), "an empty entry"));
        }
    }
    for (index, package) in file.hostsystem.iter().flatten().enumerate() {
        // package tools would take these for options or files
        if package.starts_with('-') || package.contains('/') || package.contains(char::is_whitespace) {
            let message = format!("`{}` is no name of a package", crate::error::show(package));
            problems.push(Problem::new(format!("hostsystem[{index}]"), message));
        }
    }
}

fn provision(step: &Provision, path: &str, mutable: bool, problems: &mut Vec<Problem>) {
    script(step.script.as_deref(), path, problems);
    positive(step.timeout, path, "timeout", problems);
    if let Some(run @ (ProvisionRun::Start | ProvisionRun::Change)) = step.run
        && !mutable
    {
        problems.push(
            Problem::new(format!("{path}.run"), format!("`run: {run}` needs an instance that is kept"))
                .hint("write `type: mutable`, or `run: once` to have it in the image"),
        );
    }
}

fn probe(probe: &Probe, path: &str, problems: &mut Vec<Problem>) {
    script(probe.script.as_deref(), path, problems);
    positive(probe.timeout, path, "timeout", problems);
    positive(probe.interval, path, "interval", problems);
    positive(probe.deadline, path, "deadline", problems);
    if probe.failures == Some(0) {
        problems.push(Problem::new(format!("{path}.failures"), "`failures` counts from 1"));
    }
    let liveness = probe.mode == Some(ProbeMode::Liveness);
    let misplaced: &[(&str, bool)] = if liveness {
        &[("deadline", probe.deadline.is_some())]
    } else {
        &[("failures", probe.failures.is_some()), ("action", probe.action.is_some())]
    };
    let (is, other) = if liveness { ("liveness", "readiness") } else { ("readiness", "liveness") };
    for (key, _) in misplaced.iter().filter(|(_, present)| *present) {
        problems.push(
            Problem::new(format!("{path}.{key}"), format!("`{key}` means nothing to a {is} probe"))
                .hint(format!("write `mode: {other}`")),
        );
    }
    if liveness && probe.action.is_none() {
        problems.push(
            Problem::new(format!("{path}.action"), "a liveness probe needs an `action`")
                .hint("write `action: restart`, `remove` or `report`"),
        );
    }
}

fn script(script: Option<&str>, path: &str, problems: &mut Vec<Problem>) {
    if script.is_none_or(|script| script.trim().is_empty()) {
        problems.push(
            Problem::new(format!("{path}.script"), format!("`{path}` has no script"))
                .hint("add `script: |` and the script below it"),
        );
    }
}

fn positive(period: Option<Period>, path: &str, key: &str, problems: &mut Vec<Problem>) {
    if period.is_some_and(Period::is_zero) {
        problems.push(Problem::new(format!("{path}.{key}"), format!("`{key}` must be longer than nothing")));
    }
}
