//! As whom a script runs, and with what around.

use crate::podman::image_user;
use crate::session::{account, ids};
use flake_core::instance::ImageUser;
use flake_core::launch::Launch;
use flake_schema::ProvisionMode;
use flake_wire::{Account, Ids};
use std::os::unix::ffi::OsStrExt;

/// A variable as the agent takes it.
type Variable = (Vec<u8>, Vec<u8>);

/// Whom a script runs as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Who {
    /// The ids; absent: the agent's own.
    pub(super) ids: Option<Ids>,
    /// The account that is made first.
    pub(super) account: Option<Account>,
    /// Variables on top of the agent's own.
    env: Vec<Variable>,
    /// The file mode creation mask.
    pub(super) umask: u32,
}

impl Who {
    /// As whom scripts of a mode run in an instance of a launch; `agent` is the agent's own user inside, where that is
    /// known, and `user` the image's where the agent is root in its place.
    pub(super) fn new(
        mode: ProvisionMode,
        launch: &Launch,
        agent: Option<u32>,
        user: Option<&ImageUser>,
    ) -> Self {
        let env =
            launch.env.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        let mut env: Vec<Variable> = env.collect();
        match mode {
            ProvisionMode::User => {
                if let Some(user) = user {
                    env.extend(image_user::home(user, launch));
                    return Self {
                        ids: Some(image_user::ids(user)),
                        account: None,
                        env,
                        umask: launch.umask,
                    };
                }
                let becomes = launch.identity.as_ref().filter(|identity| agent != Some(identity.uid));
                Self { ids: becomes.map(ids), account: becomes.map(account), env, umask: launch.umask }
            }
            ProvisionMode::System => {
                let is_root = agent == Some(0);
                // Else the variables are those of root's calls.
                if launch.identity.is_some() || user.is_some() || !is_root {
                    for (name, value) in [("HOME", "/root"), ("USER", "root"), ("LOGNAME", "root")] {
                        env.retain(|(other, _)| other != name.as_bytes());
                        env.push((name.into(), value.into()));
                    }
                }
                let root = Ids { uid: 0, gid: 0, groups: vec![0] };
                // What is made for all is not for the caller alone, whatever the caller's mask is.
                Self { ids: Some(root).filter(|_| !is_root), account: None, env, umask: 0o022 }
            }
        }
    }

    /// The variables, with a script's own on top.
    pub(super) fn env_with(&self, own: &[(String, String)]) -> Vec<Variable> {
        let own = own.iter().map(|(name, value)| (name.clone().into_bytes(), value.clone().into_bytes()));
        self.env.iter().cloned().chain(own).collect()
    }
}

/// The effective user id in a process' status (proc(5)).
pub(super) fn uid(status: &[u8]) -> Option<u32> {
    let status = std::str::from_utf8(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_user_is_in_its_status() {
        assert_eq!(uid(b"Name:\tsci\nUid:\t7\t0\t7\t7\nGid:\t1\t1\t1\t1\n"), Some(0));
        assert_eq!(
            uid(&std::fs::read("/proc/self/status").unwrap()),
            Some(rustix::process::geteuid().as_raw())
        );
        for text in ["", "Uid:", "Uid:\tx\ty", "uid:\t0\t0\t0\t0"] {
            assert_eq!(uid(text.as_bytes()), None, "{text}");
        }
    }
}
