//! Commands with nothing between this process and them, since what is measured is short.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, ensure};
use flake_testkit::User;

use crate::pairs::timed;

/// A command by `user`, with the user's environment and home, and nothing to read or to write.
pub(crate) fn command(user: &User, program: impl AsRef<OsStr>) -> Command {
    let like = user.command(&program);
    let mut command = Command::new(program);
    command.env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(user.home()).stdin(Stdio::null()).stdout(Stdio::null());
    // With a user to change to, the standard library starts programs in a slower way.
    if user.id != 0 {
        command.uid(user.id).gid(user.id);
    }
    command
}

/// How long `program WORDS...` takes, which has to succeed.
pub(crate) fn time(user: &User, program: impl AsRef<OsStr>, words: &[&str]) -> Result<Duration> {
    let mut command = command(user, program);
    command.args(words);
    timed(|| {
        let status = command.status()?;
        ensure!(status.success(), "{command:?}: {status}");
        Ok(())
    })
}
