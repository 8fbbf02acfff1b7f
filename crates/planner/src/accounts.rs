//! A user whom the image does not know: podman adds a line to its files of accounts.

use crate::captured::{ACCOUNTS, Captured};
use crate::error::Reason;
use crate::layers;
use crate::spec::mounts::anew;
use flake_plan::{Mount, MountFlags, MountKind, Process};
use flake_tools::podman::OwnKind;
use std::path::Path;

const PASSWD: &str = "/etc/passwd";
const HOME: &str = "HOME=";

/// Mounts the files that podman wrote into the writable layer. Such a user's home comes from there: podman gives
/// only those of the image one, and leaves the others to the runtime.
pub(crate) fn add(captured: &Captured, mounts: &mut Vec<Mount>, process: &mut Process) -> Result<(), Reason> {
    for mount in written(captured)? {
        if mounts.iter().all(|other| other.destination != mount.destination) {
            mounts.push(mount);
        }
    }
    if process.env.iter().any(|pair| pair.starts_with(HOME)) {
        return Ok(());
    }
    let passwd = mounts.iter().find_map(|mount| match &mount.kind {
        MountKind::File { content, .. } if mount.destination == Path::new(PASSWD) => Some(content),
        _ => None,
    });
    if let Some(home) = passwd.and_then(|passwd| home_of(&String::from_utf8_lossy(passwd), process.uid)) {
        process.env.push(format!("{HOME}{home}"));
    }
    Ok(())
}

fn written(captured: &Captured) -> Result<Vec<Mount>, Reason> {
    let Some(upper) = layers::upper(&captured.mounts) else { return Ok(Vec::new()) };
    let mount = |file: &str| {
        let destination = Path::new("/").join(file);
        let kind = match captured.own.get(&upper.join(file))? {
            OwnKind::File(content, mode) => MountKind::File { content: content.clone(), mode: *mode },
            _ => return Some(Err(anew(&destination))),
        };
        Some(Ok(Mount { destination, kind, flags: MountFlags::default() }))
    };
    ACCOUNTS.into_iter().filter_map(mount).collect()
}

/// The sixth field of the user's line (passwd(5)).
fn home_of(passwd: &str, uid: u32) -> Option<String> {
    let uid = uid.to_string();
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let of_user = fields.into_iter().find(|fields| fields.get(2) == Some(&uid.as_str()))?;
    of_user.get(5).filter(|home| !home.is_empty()).map(|home| (*home).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_that_of_the_number() {
        let passwd =
            "root:x:0:0:root:/root:/bin/sh\n1000:*:1000:0:container user:/place:/bin/sh\nshort:x:7\n";
        assert_eq!(home_of(passwd, 1000).as_deref(), Some("/place"));
        assert_eq!(home_of(passwd, 0).as_deref(), Some("/root"));
        assert_eq!(home_of(passwd, 7), None);
        assert_eq!(home_of(passwd, 8), None);
    }
}
