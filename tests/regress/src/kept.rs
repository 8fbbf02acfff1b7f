//! A flake of ada's whose instance is kept, for the reports about those.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, Outcome};

use crate::Ground;

/// The flake and what podman and the launcher know of it.
pub(crate) struct Kept<'a> {
    ground: &'a Ground<'a>,
    name: &'static str,
    app: PathBuf,
}

impl<'a> Kept<'a> {
    pub(crate) fn register(ground: &'a Ground<'a>, name: &'static str) -> Result<Self> {
        let app = ground.host.register(&ADA, (name, &Image::BOX, "/bin/busybox"), &["--resume"])?;
        Ok(Self { ground, name, app })
    }

    pub(crate) fn call(&self, words: &[&str]) -> Result<Outcome> {
        let mut command = ADA.command(&self.app);
        command.args(words);
        Ok(Call::new(command).run()?)
    }

    /// The call works and prints this.
    pub(crate) fn prints(&self, words: &[&str], text: &str) -> Result<()> {
        let outcome = self.call(words)?;
        ensure!(outcome.success() && outcome.out() == text, "{words:?}: {outcome}");
        Ok(())
    }

    pub(crate) fn app(&self) -> &PathBuf {
        &self.app
    }

    /// Adds a layer to the flake file, in place of the one before.
    pub(crate) fn layer(&self, text: &str) -> Result<()> {
        let folder = ADA.home().join(format!(".config/flakes/{}.d", self.name));
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join("1.yaml"), text)?)
    }

    /// The container of the instance without a name.
    pub(crate) fn container(&self) -> String {
        format!("flake.{}..{}", ADA.id, self.name)
    }

    /// What is noted about the instances.
    pub(crate) fn notes(&self) -> PathBuf {
        ADA.home().join(format!(".local/state/flakes/instances/{}/{}", ADA.id, self.name))
    }

    /// The ids of all its containers.
    pub(crate) fn containers(&self) -> Result<Vec<String>> {
        let filter = format!("label=flake.name={}", self.name);
        let list = self.podman(&["ps", "--all", "--quiet", "--filter", &filter])?;
        Ok(list.lines().map(str::to_owned).collect())
    }

    pub(crate) fn podman(&self, words: &[&str]) -> Result<String> {
        Ok(self.ground.host.podman(&ADA, words).check()?.out())
    }

    /// Removes all its containers.
    pub(crate) fn end(&self) -> Result<()> {
        for id in self.containers()? {
            self.podman(&["rm", "--force", "--time", "0", &id])?;
        }
        Ok(())
    }
}
