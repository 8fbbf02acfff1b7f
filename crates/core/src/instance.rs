//! Kept instances: what they are called, and which one a call means.

mod choice;
mod image_user;
mod notes;
mod request;

pub use choice::{Choice, ChoiceError, choose};
pub use image_user::ImageUser;
pub use notes::{Closed, InUse, Made, Making, Notes, NotesError};
pub use request::{FlakeVerb, KeptCall, RequestError};

use flake_schema::{Flake, FlakeName, InstanceName};
use std::fmt;

/// Labels of a kept instance's environment, beside those of every launch.
pub mod label {
    /// The group: instances of one group share flakes.
    pub const GROUP: &str = "flake.group";
    /// The instance's label within its group.
    pub const INSTANCE: &str = "flake.instance";
    /// What it was made from.
    pub const MADE_OF: &str = "flake.made-of";
    /// The image's `USER`, where the agent is root because of scripts.
    pub const IMAGE_USER: &str = "flake.image-user";
    /// The image's `HOME`, where it has one and the agent is root because of scripts.
    pub const IMAGE_HOME: &str = "flake.image-home";
}

/// One instance of one user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instance {
    /// Whose it is.
    pub uid: u32,
    /// What its flakes share: the `instance` of the flake file, else the flake's own name.
    pub group: String,
    /// Its name; none for the one that a plain call makes.
    name: Option<InstanceName>,
}

impl Instance {
    /// The instance of this name; the group's own name is that of the one without.
    #[must_use]
    pub fn new(uid: u32, group: &str, name: Option<InstanceName>) -> Self {
        let name = name.filter(|name| name.as_str() != group);
        Self { uid, group: group.to_owned(), name }
    }

    /// The instance that an environment's labels speak of. Whether it is that one, only the engine's own name for it
    /// says: [`Self::container_name`].
    #[must_use]
    pub fn labelled<'a>(label: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let (group, own) = (label(label::GROUP)?, label(label::INSTANCE)?);
        // It is a part of paths.
        if group.is_empty() || group.contains('/') || matches!(group, "." | "..") {
            return None;
        }
        let name = if own == group { None } else { Some(own.parse().ok()?) };
        Some(Self::new(label(crate::launch::label::USER)?.parse().ok()?, group, name))
    }

    /// Its name among the instances of its group, the group's for the one without.
    #[must_use]
    pub fn label(&self) -> &str {
        self.name.as_ref().map_or(&self.group, InstanceName::as_str)
    }

    /// As `flake-ctl` and calls of the flake `app` name it: `APP`, or `APP@NAME`.
    #[must_use]
    pub fn called_by(&self, app: &str) -> String {
        self.name.as_ref().map_or_else(|| app.to_owned(), |name| format!("{app}@{name}"))
    }

    /// The name of its container: podman knows letters, digits, `_`, `.` and `-`. Any other byte is a dot and two
    /// hexadecimal digits, so that two dots can stand between the parts.
    #[must_use]
    pub fn container_name(&self) -> String {
        let mut text = format!("flake.{}..{}", self.uid, escaped(&self.group));
        if let Some(name) = &self.name {
            text.push_str("..");
            text.push_str(&escaped(name.as_str()));
        }
        text
    }
}

/// As people write it: `GROUP`, or `GROUP@NAME`.
impl fmt::Display for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(formatter, "{}@{name}", self.group),
            None => formatter.write_str(&self.group),
        }
    }
}

/// The group of a flake's instances.
#[must_use]
pub fn group<'flake>(flake: &'flake Flake, name: &'flake FlakeName) -> &'flake str {
    flake.instance.as_ref().map_or(name.as_str(), InstanceName::as_str)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!(".{byte:02x}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(group: &str, name: &str) -> Instance {
        Instance::new(7, group, (!name.is_empty()).then(|| name.parse().unwrap()))
    }

    #[test]
    fn no_two_instances_share_a_container() {
        let all = [
            ("dev", ""),
            ("dev", "x"),
            ("dev..x", ""),
            ("dev.", "x"),
            ("dev", "a@b"),
            ("dev", "a=b"),
            ("dev@x", ""),
            ("python3.11", ""),
            ("python3", "11"),
            ("größe", ""),
        ];
        let names: std::collections::BTreeSet<_> =
            all.iter().map(|(group, name)| instance(group, name).container_name()).collect();
        assert_eq!(names.len(), all.len());
        for name in names {
            assert!(
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)),
                "{name}"
            );
        }
    }

    #[test]
    fn labels_speak_of_an_instance() {
        let of = |group, label| {
            let labels = [("flake.group", group), ("flake.instance", label), ("flake.user", "7")];
            Instance::labelled(|name| labels.iter().find(|(own, _)| *own == name).map(|(_, value)| *value))
        };
        assert_eq!(of("python3.11", "python3.11"), Some(instance("python3.11", "")));
        assert_eq!(of("dev", "x"), Some(instance("dev", "x")));
        for (group, label) in [("..", "x"), ("a/b", "x"), ("", ""), ("dev", "a/b"), ("dev", "")] {
            assert_eq!(of(group, label), None, "{group} {label}");
        }
    }

    #[test]
    fn the_one_without_a_name_has_the_groups() {
        assert_eq!(instance("dev", "dev"), instance("dev", ""));
        assert_eq!(instance("dev", "").label(), "dev");
        assert_eq!(instance("dev", "other").label(), "other");
        assert_eq!(instance("dev", "other").to_string(), "dev@other");
        assert_eq!(instance("dev", "").to_string(), "dev");
    }
}
