//! Instances as launches make them: a container with the labels, and a note.

use anyhow::Result;
use flake_testkit::{Call, Image, ScratchHost, User};

/// What an instance is made of.
pub(crate) struct Made<'a> {
    /// In whose store.
    pub(crate) owner: &'a User,
    /// The flake that makes it.
    pub(crate) flake: &'a str,
    pub(crate) group: &'a str,
    pub(crate) label: &'a str,
    /// The user id of whoever called.
    pub(crate) uid: u32,
    /// Further options of podman.
    pub(crate) options: &'a [&'a str],
}

impl<'a> Made<'a> {
    /// The instance of a label in the store of its user, of a flake that shares it with nobody.
    pub(crate) fn own(owner: &'a User, flake: &'a str, label: &'a str) -> Self {
        Self { owner, flake, group: flake, label, uid: owner.id, options: &[] }
    }

    /// The name of the container; names in tests have no signs that need care.
    pub(crate) fn container(&self) -> String {
        let Self { group, label, uid, .. } = self;
        if group == label {
            format!("flake.{uid}..{group}")
        } else {
            format!("flake.{uid}..{group}..{label}")
        }
    }

    /// The note about it.
    pub(crate) fn note(&self) -> String {
        format!("{}/{}", self.notes(), self.label)
    }

    /// What is locked while it is made, started or removed.
    pub(crate) fn lock(&self) -> String {
        format!("{}/.locks/{}", self.notes(), self.label)
    }

    fn notes(&self) -> String {
        let home = self.owner.home();
        let state = match self.owner.id {
            0 => "/var/lib/flakes".to_owned(),
            _ => format!("{}/.local/state/flakes", home.display()),
        };
        format!("{state}/instances/{}/{}", self.uid, self.group)
    }

    /// The flake file of its flake.
    pub(crate) fn config(&self) -> String {
        match self.owner.id {
            0 => format!("/usr/share/flakes/{}.yaml", self.flake),
            _ => format!("{}/.config/flakes/{}.yaml", self.owner.home().display(), self.flake),
        }
    }

    /// Has podman start it; it says `hello` and waits.
    pub(crate) fn start(&self, host: &ScratchHost) -> Result<()> {
        host.image(self.owner, &Image::BOX)?;
        let labels = [
            ("name", self.flake.to_owned()),
            ("user", self.uid.to_string()),
            ("config", self.config()),
            ("group", self.group.to_owned()),
            ("instance", self.label.to_owned()),
        ];
        let labels = labels.map(|(name, value)| format!("--label=flake.{name}={value}"));
        let name = format!("--name={}", self.container());
        let script = "echo hello; echo oops >&2; trap 'exit 0' TERM; sleep 100000 & wait";
        let fixed = ["run", "--detach", "--network=none", "--log-driver=k8s-file", &name];
        let words = fixed.into_iter().chain(labels.iter().map(String::as_str));
        host.podman(
            self.owner,
            words.chain(self.options.iter().copied()).chain(["localhost/box", "/bin/sh", "-c", script]),
        )
        .check()?;
        let note = self.note();
        let script = r#"mkdir -p "${0%/*}" && printf '0\n0\n/nowhere\n' >"$0" && chmod 600 "$0""#;
        let mut command = self.owner.command("/bin/sh");
        command.args(["-c", script, &note]);
        Call::new(command).check()?;
        Ok(())
    }

    /// Podman's state of it.
    pub(crate) fn state(&self, host: &ScratchHost) -> Result<String> {
        let name = self.container();
        let words = ["container", "inspect", "--format", "{{.State.Status}}", &name];
        Ok(host.podman(self.owner, words).run()?.out().trim().to_owned())
    }
}
