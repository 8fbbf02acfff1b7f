//! The image's user, where the agent is root because scripts of the flake need that.

use super::{Keeper, words};
use crate::start::EngineError;
use flake_core::guest::Guest;
use flake_core::instance::{ImageUser, label};
use flake_core::launch::Launch;
use flake_tools::podman::{ImageConfig, Kept};
use flake_wire::Ids;

/// The most bytes of a file that is looked into.
const MOST: usize = 128 << 10;

/// What an image says about its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// `USER`.
    pub(super) user: String,
    /// `HOME`, where the image has one.
    pub(super) home: Option<String>,
    /// Where the container starts.
    workdir: String,
}

impl Said {
    /// Of an image that is not root's.
    pub(super) fn by(config: &ImageConfig) -> Option<Self> {
        let home = config.env.iter().flatten().find_map(|line| line.strip_prefix("HOME=")).map(str::to_owned);
        let is_root = matches!(config.user.as_str(), "" | "0" | "root" | "0:0" | "root:root");
        (!is_root).then(|| Self { user: config.user.clone(), home, workdir: String::new() })
    }

    /// Of the image that a container was made of.
    pub(super) fn noted(kept: &Kept) -> Option<Self> {
        let noted = |name: &str| kept.label(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let (user, home) = (noted(label::IMAGE_USER)?, noted(label::IMAGE_HOME));
        Some(Self { user, home, workdir: kept.config.working_dir.clone() })
    }

    /// Whom that is inside.
    pub(super) fn find(self, guest: &mut dyn Guest) -> Result<ImageUser, EngineError> {
        let mut text = |path: &str| -> Result<String, EngineError> {
            let content = guest.read(path, MOST)?.unwrap_or_default();
            Ok(String::from_utf8_lossy(&content).into_owned())
        };
        let files = (text("/etc/passwd")?, text("/etc/group")?);
        let found = ImageUser::find(&self.user, (&files.0, &files.1), &self.workdir);
        let user = found.ok_or(EngineError::ImageUser(self.user))?;
        Ok(ImageUser { home: self.home.unwrap_or(user.home), ..user })
    }
}

impl Keeper<'_> {
    /// Whether the agent has to be root though the image is not: a flake's scripts are root's, unless they say
    /// otherwise, and what they did is noted where only root writes.
    pub(super) fn needs_root(&self) -> bool {
        !self.flake.provision.is_empty() && self.launch.identity.is_none() && !words::restricts(self.launch)
    }
}

/// The ids of it.
pub(crate) fn ids(user: &ImageUser) -> Ids {
    Ids { uid: user.uid, gid: user.gid, groups: user.groups.clone() }
}

/// The variable that podman would have set for it, unless the flake does.
pub(crate) fn home(user: &ImageUser, launch: &Launch) -> Option<(Vec<u8>, Vec<u8>)> {
    let is_set = launch.env.keys().any(|name| name == "HOME")
        || launch.options.iter().any(|word| word.contains("HOME="));
    (!is_set).then(|| (b"HOME".to_vec(), user.home.clone().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_image_of_somebody_else_says_who() {
        let config = |user: &str, env: &[&str]| ImageConfig {
            user: user.to_owned(),
            env: Some(env.iter().map(|line| (*line).to_owned()).collect()),
            ..ImageConfig::default()
        };
        for root in ["", "0", "root", "0:0"] {
            assert_eq!(Said::by(&config(root, &[])), None, "{root}");
        }
        let said = Said::by(&config("app", &["PATH=/bin", "HOME=/srv"])).unwrap();
        assert_eq!(said, Said { user: "app".into(), home: Some("/srv".into()), workdir: String::new() });
        assert_eq!(Said::by(&config("0:50", &[])).unwrap().home, None);
    }
}
