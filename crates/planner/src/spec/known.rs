//! Which fields of a specification are handled here. Every other one that says something is a reason.

use crate::error::Reason;
use serde_json::Value;

/// The fields: `[]` stands for each element of a list, `*` for each key of a map.
const HANDLED: [&str; 62] = [
    "annotations.*",
    "hostname",
    "linux.cgroupsPath",
    "linux.devices[].fileMode",
    "linux.devices[].gid",
    "linux.devices[].major",
    "linux.devices[].minor",
    "linux.devices[].path",
    "linux.devices[].type",
    "linux.devices[].uid",
    "linux.gidMappings[].containerID",
    "linux.gidMappings[].hostID",
    "linux.gidMappings[].size",
    "linux.maskedPaths[]",
    "linux.namespaces[].path",
    "linux.namespaces[].type",
    "linux.readonlyPaths[]",
    "linux.resources.devices[].access",
    "linux.resources.devices[].allow",
    "linux.resources.devices[].major",
    "linux.resources.devices[].minor",
    "linux.resources.devices[].type",
    "linux.resources.pids.limit",
    "linux.rootfsPropagation",
    "linux.seccomp.architectures[]",
    "linux.seccomp.defaultAction",
    "linux.seccomp.defaultErrnoRet",
    "linux.seccomp.flags[]",
    "linux.seccomp.syscalls[].action",
    "linux.seccomp.syscalls[].args[].index",
    "linux.seccomp.syscalls[].args[].op",
    "linux.seccomp.syscalls[].args[].value",
    "linux.seccomp.syscalls[].args[].valueTwo",
    "linux.seccomp.syscalls[].errnoRet",
    "linux.seccomp.syscalls[].names[]",
    "linux.sysctl.*",
    "linux.uidMappings[].containerID",
    "linux.uidMappings[].hostID",
    "linux.uidMappings[].size",
    "mounts[].destination",
    "mounts[].options[]",
    "mounts[].source",
    "mounts[].type",
    "ociVersion",
    "process.apparmorProfile",
    "process.args[]",
    "process.capabilities.*[]",
    "process.cwd",
    "process.env[]",
    "process.noNewPrivileges",
    "process.oomScoreAdj",
    "process.rlimits[].hard",
    "process.rlimits[].soft",
    "process.rlimits[].type",
    "process.terminal",
    "process.user.additionalGids[]",
    "process.user.gid",
    "process.user.uid",
    // The launcher's own counts, as on the agent's way.
    "process.user.umask",
    "process.user.username",
    "root.path",
    "root.readonly",
];
/// Fields with a reason in words of their own.
const NAMED: [(&str, &str); 5] = [
    ("hooks", "hooks"),
    ("linux.intelRdt", "a share of the processor's cache"),
    ("linux.mountLabel", "an SELinux label"),
    ("linux.resources", "a limit of resources"),
    ("process.selinuxLabel", "an SELinux label"),
];
/// The annotation of a container with all rights.
const PRIVILEGED: &str = "io.podman.annotations.privileged";
/// How annotations begin that are options of a runtime (crun(1), "Extensions to OCI"), and those that are about
/// control groups and SELinux only.
const OF_RUNTIMES: &str = "run.oci.";
const HARMLESS: [&str; 3] =
    ["run.oci.mount_context_type", "run.oci.systemd.force_cgroup_v1", "run.oci.systemd.subgroup"];

/// Looks at every field.
pub(crate) fn check(specification: &Value) -> Result<(), Reason> {
    let privileged = specification["annotations"][PRIVILEGED].as_str();
    if privileged.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Err("--privileged".into());
    }
    let mut annotations = specification["annotations"].as_object().into_iter().flatten();
    if let Some((name, _)) =
        annotations.find(|(name, _)| name.starts_with(OF_RUNTIMES) && !HARMLESS.contains(&name.as_str()))
    {
        return Err(Reason::unknown(format_args!("the annotation {name}")));
    }
    walk(specification, &mut String::new())
}

/// Nothing is said by what is null, empty or false; numbers count, zero too: what it means depends on the field.
fn walk(value: &Value, path: &mut String) -> Result<(), Reason> {
    let length = path.len();
    match value {
        Value::Null | Value::Bool(false) => {}
        Value::String(text) if text.is_empty() => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                walk(value, path)?;
                path.truncate(length);
            }
        }
        Value::Array(values) => {
            path.push_str("[]");
            for value in values {
                walk(value, path)?;
            }
            path.truncate(length);
        }
        Value::Bool(true) | Value::Number(_) | Value::String(_) => {
            if !HANDLED.iter().any(|pattern| matches(pattern, path)) {
                return Err(reason(path));
            }
        }
    }
    Ok(())
}

fn reason(path: &str) -> Reason {
    let named = NAMED.iter().find_map(|(field, words)| Some((path.strip_prefix(field)?, words)));
    match named {
        Some((rest, words)) if rest.starts_with('.') => format!("{words} ({})", &rest[1..]).into(),
        Some((_, words)) => (*words).into(),
        None => Reason::unknown(path),
    }
}

/// Whether a path is one of a pattern's: a key of a map may have dots itself, so it reaches to the pattern's next
/// part or the end.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((before, after)) => path
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|key| !key.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(specification: &Value) -> String {
        check(specification).unwrap_err().0
    }

    #[test]
    fn what_says_nothing_is_passed_over() {
        let nothing =
            json!({"linux": {"intelRdt": {}, "resources": {"memory": {}, "cpu": null}}, "hooks": {}});
        assert_eq!(check(&nothing), Ok(()));
        let keys = json!({"annotations": {"a.b": "c"}, "linux": {"sysctl": {"net.ipv4.x": "0 0"}}});
        assert_eq!(check(&keys), Ok(()));
    }

    #[test]
    fn what_is_not_handled_is_named() {
        assert_eq!(
            said(&json!({"linux": {"personality": {"domain": "LINUX32"}}})),
            "linux.personality.domain is not known to the runner"
        );
        assert_eq!(said(&json!({"mounts": [{"idmap": true}]})), "mounts[].idmap is not known to the runner");
        assert_eq!(
            said(&json!({"linux": {"resources": {"memory": {"limit": 0}}}})),
            "a limit of resources (memory.limit)"
        );
        assert_eq!(said(&json!({"process": {"selinuxLabel": "x"}})), "an SELinux label");
        assert_eq!(said(&json!({"hooks": {"prestart": [{"path": "/x"}]}})), "hooks (prestart[].path)");
        assert_eq!(said(&json!({"annotations": {PRIVILEGED: "TRUE"}})), "--privileged");
        assert!(
            said(&json!({"annotations": {"run.oci.keep_original_groups": "1"}})).contains("run.oci.keep")
        );
    }
}
