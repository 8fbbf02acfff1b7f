//! Names of images.

/// A reference with the tag that is meant where none is written.
#[must_use]
pub fn with_tag(reference: &str) -> String {
    let last = reference.rsplit('/').next().unwrap_or_default();
    if last.contains([':', '@']) { reference.to_owned() } else { format!("{reference}:latest") }
}

/// The whole name behind a reference: the one of the image's `names` that a short reference stands for, else the
/// reference itself.
#[must_use]
pub fn whole(reference: &str, names: &[String]) -> String {
    let tagged = match reference.strip_prefix("docker.io/") {
        // Its own images lie in a folder that need not be written.
        Some(name) if !name.contains('/') => with_tag(&format!("docker.io/library/{name}")),
        _ => with_tag(reference),
    };
    let ending = format!("/{tagged}");
    let is_meant = |name: &&String| **name == tagged || name.ends_with(&ending);
    if is_whole(reference) { tagged } else { names.iter().find(is_meant).cloned().unwrap_or(tagged) }
}

/// Whether the host is written that the image comes from (a name with a dot or a port, or `localhost`).
#[must_use]
pub fn is_whole(reference: &str) -> bool {
    let host = reference.split_once('/').map_or("", |(host, _)| host);
    host == "localhost" || host.contains(['.', ':'])
}

/// Whether the image is of this host only; no registry has another.
#[must_use]
pub fn is_local(whole: &str) -> bool {
    whole.starts_with("localhost/")
}

/// Whether the reference names the content itself, so that it can never lead to another image.
#[must_use]
pub fn is_fixed(reference: &str) -> bool {
    reference.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_without_a_tag_means_the_latest() {
        assert_eq!(with_tag("localhost:5000/joe"), "localhost:5000/joe:latest");
        assert_eq!(with_tag("joe:1"), "joe:1");
        assert_eq!(with_tag("joe@sha256:00"), "joe@sha256:00");
    }

    #[test]
    fn a_short_reference_stands_for_a_name_of_the_image() {
        let names = ["localhost/flake/box:latest", "docker.io/library/box:latest", "quay.io/a/box:1"]
            .map(str::to_owned)[1..]
            .to_vec();
        for (reference, name) in [
            ("box", "docker.io/library/box:latest"),
            ("box:1", "quay.io/a/box:1"),
            ("library/box", "docker.io/library/box:latest"),
            ("box:2", "box:2"),
            ("docker.io/box", "docker.io/library/box:latest"),
            ("localhost/box", "localhost/box:latest"),
            ("localhost:5000/box", "localhost:5000/box:latest"),
        ] {
            assert_eq!(whole(reference, &names), name);
        }
        assert!(is_local(&whole("localhost/box", &[])) && !is_local(&whole("localhost:5000/box", &[])));
    }
}
