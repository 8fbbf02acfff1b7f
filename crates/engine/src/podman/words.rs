//! The words of `podman run` for a launch.

use super::options;
use crate::start::EngineError;
use flake_core::instance::{self, Instance};
use flake_core::launch::{Identity, Launch, Zone, label};
use flake_core::share::Bind;
use flake_schema::{Network, Target};
use flake_tools::podman::SCRATCH_LABEL;
use std::ffi::OsString;
use std::path::Path;

/// What every container of a launch is made with. Variables travel with the command; podman's own copy would only
/// be another source of them.
const COMMON: [&str; 3] = ["--pull=never", "--log-driver=none", "--http-proxy=false"];
/// The same for what is kept: its log has what the agent and the scripts of the flake say.
const LOGGED: [&str; 4] =
    ["--pull=never", "--log-driver=k8s-file", "--log-opt=max-size=1mb", "--http-proxy=false"];

/// The agent is root.
const AS_ROOT: &str = "--user=0:0";

/// The words of `podman run` for an instance that outlives its calls, the agent's command line with them; `options` are
/// those of [`kept`].
pub(super) fn keep(
    (launch, instance): (&Launch, &Instance),
    labels: &[(&str, &str)],
    agent: &Path,
    options: Vec<OsString>,
) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        ["podman", "run", "--detach", "--init", "--init-path"].map(OsString::from).to_vec();
    words.push(agent.into());
    words.push(format!("--name={}", instance.container_name()).into());
    words.extend(LOGGED.map(OsString::from));
    let own =
        [(instance::label::GROUP, instance.group.as_str()), (instance::label::INSTANCE, instance.label())];
    words.extend(launchs_labels(launch));
    words.extend(own.iter().chain(labels).map(|(name, value)| label_word(name, value)));
    words.extend(options);
    words.push(flake_wire::ENTRYPOINT_ENDS.into());
    words
}

/// What decides how an instance is made, the image last. With `needs_root` the agent is root, whoever the image says.
pub(super) fn kept(launch: &Launch, is_root: bool, needs_root: bool) -> Result<Vec<OsString>, EngineError> {
    // The home is to live as long as the instance.
    inside(launch, is_root, Home::Volume, binds(launch).chain(needs_root.then(|| AS_ROOT.into())))
}

/// What becomes of an empty home directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    Memory,
    Volume,
}

/// Everything from `podman run` to the image and what follows it.
pub(super) fn run(launch: &Launch, agent: &Path, is_root: bool) -> Result<Vec<OsString>, EngineError> {
    let mut words: Vec<OsString> =
        ["podman", "run", "--detach", "--rm", "--init", "--init-path"].map(OsString::from).to_vec();
    words.push(agent.into());
    words.extend(COMMON.map(OsString::from));
    words.extend(launchs_labels(launch));
    words.extend(inside(launch, is_root, Home::Memory, binds(launch))?);
    // Without words of its own a call runs the image's command; else they follow the entrypoint.
    if launch.target != Target::Entrypoint || !launch.args.is_empty() {
        words.push(flake_wire::ENTRYPOINT_ENDS.into());
    }
    Ok(words)
}

/// The words of `podman create`, that one included, for a container of which only podman's specification is of
/// interest: what is the same for all calls of a flake by one user, so without the paths of the host that a call
/// brings along. The command is the mark that ends the image's entrypoint.
///
/// # Errors
/// [`EngineError::Option`].
pub fn created(launch: &Launch, is_root: bool) -> Result<Vec<OsString>, EngineError> {
    let mut words = vec![OsString::from("create")];
    words.extend(COMMON.map(OsString::from));
    words.push(format!("--label={SCRATCH_LABEL}").into());
    words.extend(inside(launch, is_root, Home::Memory, std::iter::empty())?);
    words.push(flake_wire::ENTRYPOINT_ENDS.into());
    Ok(words)
}

/// The words that say what it is like inside, the image last.
fn inside(
    launch: &Launch,
    is_root: bool,
    home: Home,
    binds: impl Iterator<Item = OsString>,
) -> Result<Vec<OsString>, EngineError> {
    let mut words = Vec::new();
    if let Some(network) = launch.network {
        words.push(format!("--network={}", network_word(network)).into());
    }
    words.extend(binds);
    if let Some(identity) = &launch.identity {
        words
            .extend(identity_words(identity, becomes(launch), is_root, home).into_iter().map(OsString::from));
    }
    words.extend(options::usable(launch)?.into_iter().map(OsString::from));
    words.push((&launch.image).into());
    Ok(words)
}

/// The labels by which the environment of any launch is found again.
fn launchs_labels(launch: &Launch) -> [OsString; 3] {
    [
        label_word(label::NAME, launch.name.as_str()),
        label_word(label::USER, &launch.uid.to_string()),
        label_word(label::CONFIG, &launch.file.display().to_string()),
    ]
}

fn label_word(name: &str, value: &str) -> OsString {
    format!("--label={name}={value}").into()
}

fn binds(launch: &Launch) -> impl Iterator<Item = OsString> {
    launch.binds.iter().map(|bind| format!("--mount={}", mount(bind)).into())
}

fn network_word(network: Network) -> &'static str {
    match network {
        Network::Host => "host",
        Network::None => "none",
        Network::Private => "private",
    }
}

/// `--mount` is a line of comma-separated values (RFC 4180), so any path can be written.
fn mount(bind: &Bind) -> String {
    let path = bind.path.display().to_string();
    let source = bind.source.as_ref().map_or_else(|| path.clone(), |source| source.display().to_string());
    let access = if bind.read_only { "ro" } else { "rw" };
    format!("type=bind,{},{},{access},nodev,nosuid", quoted("src", &source), quoted("dst", &path))
}

fn quoted(key: &str, value: &str) -> String {
    format!("\"{key}={}\"", value.replace('"', "\"\""))
}

/// Options that mean something else, or nothing, when the agent is root at first and becomes the caller.
const RESTRICTING: [&str; 10] = [
    "--cap-add",
    "--cap-drop",
    "--group-add",
    "--group-entry",
    "--hostuser",
    "--passwd",
    "--passwd-entry",
    "--read-only",
    "--user",
    "--userns",
];

/// Whether the agent is started as the container's root and becomes the caller itself. Podman can only add the
/// caller to an image's users, which fails where the image has that number under another name.
#[must_use]
pub fn becomes(launch: &Launch) -> bool {
    launch.identity.as_ref().is_some_and(|identity| identity.uid != 0) && !restricts(launch)
}

/// Whether an option of the flake means something else when the agent is root.
pub(super) fn restricts(launch: &Launch) -> bool {
    launch.options.iter().any(|option| {
        let name = option.split('=').next().unwrap_or(option);
        let is_short = option.starts_with('-') && !option.starts_with("--");
        // The user's letter may stand behind others, and its value at once behind it.
        RESTRICTING.contains(&name) || is_short && option.contains('u')
    })
}

fn identity_words(identity: &Identity, becomes: bool, is_root: bool, home: Home) -> Vec<String> {
    let Identity { uid, gid, .. } = identity;
    let mut words = Vec::new();
    if *uid != 0 && !is_root {
        words.push("--userns=keep-id".to_owned());
    }
    let mut home_options = match home {
        Home::Memory => "type=tmpfs,tmpfs-mode=0700,nodev,nosuid,exec".to_owned(),
        Home::Volume => "type=volume".to_owned(),
    };
    if becomes {
        words.push(AS_ROOT.to_owned());
    } else {
        // Named even where it is what the user namespace comes to: the image may name another user.
        words.push(format!("--user={uid}:{gid}"));
        if *uid != 0 {
            words.push(format!("--passwd-entry={}", passwd_entry(identity)));
        }
        home_options.push_str(",U");
    }
    if identity.empty_home {
        let home = quoted("dst", &identity.home.display().to_string());
        words.push(format!("--mount={home_options},{home}"));
    }
    match &identity.zone {
        Some(Zone::Local) => words.push("--tz=local".to_owned()),
        Some(Zone::Named(name)) => words.push(format!("--tz={name}")),
        None => {}
    }
    words
}

/// A line of passwd. Podman expands `$` in it, and a colon would begin the next field.
fn passwd_entry(identity: &Identity) -> String {
    let clean = |text: &str| text.replace([':', '$', '\n'], "");
    format!(
        "{}:*:{}:{}:{}:{}:/bin/sh",
        clean(&identity.name),
        identity.uid,
        identity.gid,
        clean(&identity.gecos),
        clean(&identity.home.display().to_string()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_can_be_mounted() {
        let bind = Bind { path: "/a,b:c \"q".into(), source: None, read_only: true };
        assert_eq!(mount(&bind), r#"type=bind,"src=/a,b:c ""q","dst=/a,b:c ""q",ro,nodev,nosuid"#);
    }

    #[test]
    fn a_passwd_line_has_seven_fields_whatever_the_name() {
        let identity = Identity {
            uid: 5,
            gid: 6,
            name: "a$b".into(),
            group: "a".into(),
            gecos: "x:y\nroot".into(),
            home: "/home/a:b".into(),
            empty_home: false,
            zone: None,
        };
        assert_eq!(passwd_entry(&identity), "ab:*:5:6:xyroot:/home/ab:/bin/sh");
    }
}
