//! A user whom the image does not know: podman adds a line to its files of accounts.

use crate::upper::Upper;
use flake_plan::{Mount, MountKind, Process};
use std::path::Path;

const PASSWD: &str = "etc/passwd";
const FILES: [&str; 2] = [PASSWD, "etc/group"];
const HOME: &str = "HOME=";

/// Such a user's home comes from there: podman gives only those of the image one, and leaves the others to the runtime.
pub(crate) fn find_home(upper: &Upper<'_>, mounts: &[Mount], process: &mut Process) {
    if process.env.iter().any(|pair| pair.starts_with(HOME)) {
        return;
    }
    let mounted = mounts.iter().find_map(|mount| match &mount.kind {
        MountKind::File { content, .. } if mount.destination == Path::new("/").join(PASSWD) => {
            Some(content.as_slice())
        }
        _ => None,
    });
    let passwd = mounted.or_else(|| upper.file(Path::new(PASSWD)));
    if let Some(home) = passwd.and_then(|passwd| home_of(&String::from_utf8_lossy(passwd), process.uid)) {
        process.env.push(format!("{HOME}{home}"));
    }
}

/// Leaves those files as the image has them.
pub(crate) fn leave_out(upper: &mut Upper<'_>) {
    FILES.iter().for_each(|file| upper.remove_file(Path::new(file)));
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
