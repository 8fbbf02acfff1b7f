//! Options of a flake that the specification does not tell of, or not for long: podman looks at the caller's
//! environment and working directory, or at files, anew at each call.

use crate::error::Reason;
use std::path::Path;

/// Short options that take no value, so another one can follow in the same word (podman-create(1)).
const SWITCHES: &[u8] = b"Pdiqt";
/// What podman does around the container's process, or reads at each call.
const AROUND: [&str; 18] = [
    // Somebody's limits.
    "--cgroup-parent",
    "--chrootdirs",
    "--cidfile",
    "--conmon-pidfile",
    "--env-file",
    "--env-host",
    "--http-proxy",
    "--pidfile",
    "--pod",
    "--pod-id-file",
    "--replace",
    "--requires",
    "--restart",
    "--rootfs",
    "--sdnotify",
    // Its content must not stay on the disk.
    "--secret",
    "--timeout",
    "--volumes-from",
];
/// What names something that a plan must not make, or take from somebody (`--replace` removes a container), and what
/// only `podman run` has.
const NEVER_PLANNED: [&str; 6] = ["--attach", "--detach-keys", "--name", "--passwd", "--rmi", "-a"];
/// Values with which an option of those around asks for nothing.
const NOTHING: [&str; 4] = ["false", "no", "0", "conmon"];

/// Looks at all of them.
pub(crate) fn check(options: &[String]) -> Result<(), Reason> {
    let mut words = options.iter().peekable();
    while let Some(word) = words.next() {
        let (name, value) = split(word);
        let value = value.or_else(|| words.peek().map(|next| next.as_str())).unwrap_or_default();
        match name.as_str() {
            "-e" | "--env" if !value.contains('=') => {
                return Err(format!("a variable of the call's (--env {value}); try: env: [{value:?}]").into());
            }
            "-v" | "--volume" => check_volume(value)?,
            "--mount" => check_mount(value)?,
            "--device" => check_device(value)?,
            name if NEVER_PLANNED.contains(&name) => return Err(name.into()),
            name if AROUND.contains(&name) && !NOTHING.contains(&value) => return Err(name.into()),
            _ => {}
        }
    }
    Ok(())
}

/// With an entrypoint of its own a container has no command of the image's (podman-run(1)).
pub(crate) fn replace_entrypoint(options: &[String]) -> bool {
    options.iter().any(|word| split(word).0 == "--entrypoint")
}

/// The name of an option, and its value where it is in the same word.
fn split(word: &str) -> (String, Option<&str>) {
    if word.starts_with("--") {
        return match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value)),
            None => (word.to_owned(), None),
        };
    }
    let letters = word.strip_prefix('-').unwrap_or_default();
    let start = letters.bytes().take_while(|letter| SWITCHES.contains(letter)).count();
    let mut rest = letters[start..].chars();
    match rest.next() {
        Some(letter) if word.starts_with('-') => {
            let value = rest.as_str();
            let value = value.strip_prefix('=').unwrap_or(value);
            (format!("-{letter}"), Some(value).filter(|value| !value.is_empty()))
        }
        _ => (word.to_owned(), None),
    }
}

/// `SOURCE:PLACE:OPTION,...`
pub(crate) fn check_volume(value: &str) -> Result<(), Reason> {
    let mut parts = value.split(':');
    let (source, place) = (parts.next().unwrap_or_default(), parts.next());
    if place.is_some() && source.starts_with('.') {
        return Err(from_here(source));
    }
    if parts.next().is_some_and(|options| options.split(',').any(|option| option == "U")) {
        return Err(given_away(source));
    }
    Ok(())
}

/// `KEY=VALUE,...`
pub(crate) fn check_mount(value: &str) -> Result<(), Reason> {
    // A value in quotes may have commas in it, and a key too.
    if value.contains('"') {
        return Err(format!("a mount that is written with quotes ({value})").into());
    }
    let fields = || value.split(',').map(|field| field.split_once('=').unwrap_or((field, "true")));
    let find = |names: &[&str]| fields().find(|(name, _)| names.contains(name)).map(|(_, value)| value);
    let kind = find(&["type"]).unwrap_or("volume");
    let source = find(&["src", "source"]).unwrap_or_default();
    if kind == "bind" && !source.starts_with('/') {
        return Err(from_here(source));
    }
    // Of a file system in memory it is an option of its own in the specification.
    if kind != "tmpfs" && find(&["U", "chown"]).is_some_and(|value| value != "false") {
        return Err(given_away(source));
    }
    Ok(())
}

/// A folder of devices, or a name that files of the vendor's explain (cncf-tags/container-device-interface): what there
/// is, is for each call to find out.
fn check_device(value: &str) -> Result<(), Reason> {
    let source = value.split(':').next().unwrap_or_default();
    if !source.starts_with('/') {
        return Err(format!("the devices {source}, which podman looks for at each call").into());
    }
    if Path::new(source).is_dir() {
        return Err(format!("all devices in {source}").into());
    }
    Ok(())
}

fn from_here(source: &str) -> Reason {
    Reason(format!("the folder {source}, which is another one at each call"))
}

fn given_away(source: &str) -> Reason {
    Reason(format!("{source}, which podman gives to the container's user at each call (U)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(options: &[&str]) -> Option<String> {
        let options: Vec<_> = options.iter().map(|option| (*option).to_owned()).collect();
        check(&options).err().map(|reason| reason.0)
    }

    #[test]
    fn what_is_the_same_at_each_call_passes() {
        for options in [
            &["--env", "A=b", "-eA=b", "-e=A="][..],
            &["-v", "/a:/b:ro", "-v/a:/b", "--volume=name:/x", "-v", "/only"],
            &["--mount=type=bind,src=/a,dst=/b", "--mount", "type=tmpfs,dst=/x,U"],
            &["--restart=no", "--env-host=false", "--device=/dev/null", "--timeout=0", "--replace=false"],
        ] {
            assert_eq!(said(options), None, "{options:?}");
        }
    }

    #[test]
    fn what_is_not_has_a_reason() {
        for (options, word) in [
            (&["--env", "LANG"][..], "env: [\"LANG\"]"),
            (&["-eAWS_*"], "AWS_*"),
            (&["-ie", "LANG"], "LANG"),
            (&["-v", ".:/here"], "each call"),
            (&["-v./x:/here"], "./x"),
            (&["-v", "/a:/b:ro,U"], "(U)"),
            (&["--mount=type=bind,source=x,dst=/b"], "the folder x"),
            (&["--mount=type=bind,src=/a,dst=/b,chown=true"], "(U)"),
            (&["--env-file=/x"], "--env-file"),
            (&["--pod", "new:x"], "--pod"),
            (&["--replace", "--name=0"], "--replace"),
            (&["--name", "false"], "--name"),
            (&["-ia", "stdin"], "-a"),
            (&["--passwd=false"], "--passwd"),
            (&["--device=/dev"], "all devices in /dev"),
            (&["--device", "vendor.com/class=all"], "the devices vendor.com/class=all"),
            (&["--cgroup-parent=/limited"], "--cgroup-parent"),
            (&["--mount", "type=bind,src=/a,dst=/b,\"U=true\""], "written with quotes"),
        ] {
            let reason = said(options).unwrap_or_default();
            assert!(reason.contains(word), "{options:?}: {reason:?}");
        }
    }

    #[test]
    fn an_entrypoint_of_its_own_is_seen() {
        assert!(replace_entrypoint(&["--entrypoint=/x".to_owned()]));
        assert!(replace_entrypoint(&["--entrypoint".to_owned(), "/x".to_owned()]));
        assert!(!replace_entrypoint(&["-e".to_owned(), "entrypoint=1".to_owned()]));
    }
}
