//! What the suite leaves behind: nothing.

use anyhow::Result;
use flake_testkit::{ScratchHost, User, processes, until};

/// Programs that live as long as a container; podman's own pause process is not one of them.
const HELPERS: [&str; 7] = ["conmon", "sci", "podman", "podman-pilot", "flake-pilot", "slirp4netns", "runc"];

/// Waits until no container of `users` is left and no process of one.
///
/// # Errors
///
/// When something is still there at the deadline.
pub fn nothing_is_left(host: &ScratchHost, users: &[&User]) -> Result<()> {
    for user in users {
        let none = || host.containers(user).is_ok_and(|list| list.is_empty()).then_some(());
        let seen = || format!("{:?}", host.containers(user));
        until(&format!("the end of the containers of {}", user.name), none, seen)?;
    }
    let left = || {
        let mut all = processes::all();
        all.retain(|process| HELPERS.contains(&process.name.as_str()) && !process.line.contains("pause"));
        all
    };
    until("the end of all helpers", || left().is_empty().then_some(()), || format!("{:#?}", left()))?;
    Ok(())
}
