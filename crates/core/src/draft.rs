//! What a registration says beyond what was asked for: nothing that a reader of the file has to know by heart.

use flake_schema::{ContainerRuntime, FlakeFile, FlakeType, Network, RunAs, ShareWhat, User};

/// Options of podman that choose a network.
const NETWORK: [&str; 2] = ["--network", "--net"];
/// Options of podman that mean nothing on the host's own network.
const NEEDS_PRIVATE: [&str; 8] =
    ["--publish", "-p", "--publish-all", "-P", "--ip", "--ip6", "--mac-address", "--network-alias"];

/// Writes `type`, `runas`, `network` and, where something is shared, `user` into a file that leaves them open.
///
/// An instance that is kept makes the flake mutable. The network is the host's, for `runas: root` and where an option
/// of podman needs it a private one; it stays open where an option of podman chooses it. What is shared belongs
/// to the caller, so the application is the caller too, unless `as_image`.
pub fn complete(file: &mut FlakeFile, as_image: bool) {
    let named = file.instance.is_some();
    let runtime = file.container.get_or_insert_default().runtime.get_or_insert_default();
    let kept = named || runtime.resume == Some(true) || runtime.attach == Some(true);
    let runas = runtime.runas.get_or_insert(RunAs::Caller).clone();
    if runtime.network.is_none() {
        runtime.network = network(runtime, &runas);
    }
    let sharing = runtime.share.iter().flatten().any(|share| !matches!(share.what, ShareWhat::Reserved(_)));
    if sharing && !as_image {
        runtime.user.get_or_insert(User::Caller);
    }
    file.kind.get_or_insert(if kept { FlakeType::Mutable } else { FlakeType::Immutable });
}

fn network(runtime: &ContainerRuntime, runas: &RunAs) -> Option<Network> {
    let options = runtime.podman.as_deref().unwrap_or_default();
    if chooses_network(options) {
        None
    } else if runas.is_root() || any_of(options, &NEEDS_PRIVATE) {
        Some(Network::Private)
    } else {
        Some(Network::Host)
    }
}

/// Whether an option of podman chooses the network.
#[must_use]
pub fn chooses_network(options: &[String]) -> bool {
    any_of(options, &NETWORK)
}

fn any_of(options: &[String], names: &[&str]) -> bool {
    options.iter().any(|option| {
        let option = option.trim_start_matches('\\').trim_start();
        let name = option.split(|sign: char| sign == '=' || sign.is_whitespace()).next();
        names.iter().any(|known| name == Some(known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> String {
        let mut file = FlakeFile::from_yaml(text, "test").unwrap();
        complete(&mut file, false);
        file.to_yaml().unwrap()
    }

    #[test]
    fn type_runas_and_network_are_always_written() {
        assert_eq!(
            completed("container: {name: box}"),
            "type: immutable\ncontainer:\n  name: box\n  runtime:\n    runas: caller\n    network: host\n"
        );
        let root = completed("container: {name: box, runtime: {runas: root, resume: true}}");
        assert!(root.starts_with("type: mutable\n") && root.contains("network: private"), "{root}");
    }

    #[test]
    fn an_option_of_podman_decides_on_the_network() {
        for option in ["--network none", "\\--net=host"] {
            let file = completed(&format!("container: {{runtime: {{podman: ['{option}']}}}}"));
            assert!(!file.contains("network:"), "{file}");
        }
        let file = completed("container: {runtime: {podman: ['--publish 80:80']}}");
        assert!(file.contains("network: private"), "{file}");
        let file = completed("container: {runtime: {podman: ['--networking']}}");
        assert!(file.contains("network: host"), "{file}");
    }

    #[test]
    fn who_shares_is_the_caller() {
        assert!(completed("container: {runtime: {share: [cwd]}}").contains("user: caller"));
        assert!(!completed("container: {runtime: {share: [x11]}}").contains("user:"));
        let mut file = FlakeFile::from_yaml("container: {runtime: {share: [cwd]}}", "test").unwrap();
        complete(&mut file, true);
        assert_eq!(file.container.unwrap().runtime.unwrap().user, None);
    }
}
