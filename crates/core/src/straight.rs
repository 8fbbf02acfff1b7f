//! Which flakes can be launched straight from their image's layers, as far as the flake itself says.

use crate::caller::Caller;
use flake_schema::{Engine, Flake, Lifetime, Network};

/// Why this caller's launches of a flake always take the agent's way; nothing where a plan decides.
#[must_use]
pub fn why_not(flake: &Flake, caller: &Caller) -> Option<&'static str> {
    if flake.engine != Engine::Podman {
        Some("only containers go without an agent")
    } else if flake.instance.is_some() {
        Some("its instance is shared")
    } else if flake.lifetime == Lifetime::Attach {
        Some("its instance is kept and attached to")
    } else if flake.lifetime.is_mutable() {
        Some("its instance is kept")
    } else if flake.as_root && !caller.is_root() {
        Some("it runs as root, for others through sudo")
    } else if flake.network == Some(Network::Private) {
        Some("a private network")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flake_schema::FlakeFile;

    #[test]
    fn what_is_kept_shared_or_lent_is_known_beforehand() {
        let why = |more: &str, uid| {
            let text = "container: {name: box, host_app_path: /bin/x, target_app_path: /x}";
            let mut file = FlakeFile::from_yaml(text, "test").unwrap();
            file.merge(FlakeFile::from_yaml(more, "test").unwrap());
            why_not(&file.resolve().unwrap(), &Caller::with_id(uid, uid).unwrap())
        };
        let as_root = "container: {runtime: {runas: root}}";
        assert_eq!(why(as_root, 1000), Some("it runs as root, for others through sudo"));
        assert_eq!(why(as_root, 0), None);
        let private = "container: {runtime: {network: private}}";
        assert_eq!(why(private, 0), Some("a private network"));
        assert_eq!(why("type: mutable", 0), Some("its instance is kept"));
        assert_eq!(
            why("container: {runtime: {attach: true}}", 0),
            Some("its instance is kept and attached to")
        );
        assert_eq!(why("{type: mutable, instance: many}", 0), Some("its instance is shared"));
    }
}
