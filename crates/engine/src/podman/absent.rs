//! Images that the store does not have, or not whole, and what helps.

use crate::start::EngineError;
use flake_core::launch::Launch;
use flake_core::place::{Scope, pinned_tag};

/// The error for an image that the store does not have.
pub(super) fn image(launch: &Launch) -> EngineError {
    let Launch { image, reference, .. } = launch;
    let name = launch.name.as_str();
    let is_pinned =
        [Scope::System, Scope::User].iter().any(|scope| *image == pinned_tag(&launch.name, *scope));
    let remedy = if launch.archive.is_some() {
        format!("calling {name} again, or flake-ctl podman register --force as the one who registered it")
    } else if is_pinned {
        format!("{}flake-ctl plan --renew {name}", sudo(launch))
    } else {
        format!("flake-ctl podman pull --uri {image}")
    };
    let image = if image == reference { image.clone() } else { format!("{image} ({reference})") };
    EngineError::ImageMissing { image, remedy }
}

/// Whether podman said that it does not find the folder of a layer, though it believes that it has the image.
pub(super) fn is_about_layers(said: &str) -> bool {
    said.contains("no such file or directory")
        && said.contains("/overlay/")
        && (said.contains("creating read-write layer") || said.to_lowercase().contains("error: stat /"))
}

/// The error for such an image: podman has to forget it before it takes it anew.
pub(super) fn layers(launch: &Launch) -> EngineError {
    let Launch { image, reference, .. } = launch;
    let sudo = sudo(launch);
    let then = match &launch.archive {
        Some(_) => launch.name.to_string(),
        None => format!("{sudo}flake-ctl podman pull --uri {reference}"),
    };
    let forget = format!("{sudo}podman rmi --force $({sudo}podman images --quiet {image})");
    EngineError::LayersMissing { image: reference.clone(), remedy: format!("{forget}; {then}") }
}

/// Before a command on root's store.
fn sudo(launch: &Launch) -> &'static str {
    if launch.as_root && launch.uid != 0 { "sudo " } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_podman_says_of_layers_that_are_gone() {
        for (said, expected) in [
            (
                "Error: creating container storage: creating read-write layer with ID \"5e\": Stat \
              /home/ada/.local/share/containers/storage/overlay/87/diff: no such file or directory\n",
                true,
            ),
            ("Error: stat /var/lib/containers/storage/overlay/0e: no such file or directory\n", true),
            ("Error: statfs /data/overlay/x: no such file or directory\n", false),
            (
                "Error: creating container storage: creating read-write layer with ID \"5e\": disk quota\n",
                false,
            ),
        ] {
            assert_eq!(is_about_layers(said), expected, "{said}");
        }
    }
}
