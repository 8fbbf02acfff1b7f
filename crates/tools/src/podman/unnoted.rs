//! Ends of containers that podman does not know of.
//!
//! Podman learns from a file that a container has ended, and of its exit status. `conmon`, its monitor, writes the file.
//! When that was killed first, podman before 4.4 takes the container for one that is just stopping, for ever: it cannot
//! be started any more, and what is in it is lost.

use super::Podman;
use crate::run::ToolError;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The line of podman's debugging output that says where it keeps what is gone after a restart of the host.
const TMP_DIR: &str = "Using tmp dir ";
/// Of a container that was killed.
const KILLED: &[u8] = b"137";

impl Podman {
    /// Notes in the monitor's place that a container, which `podman stop` has just ended, has ended.
    pub(super) fn note_end(&self, name: &str) -> Result<(), ToolError> {
        let Some(kept) = self.kept(name)?.filter(|kept| kept.state.status == "stopping") else {
            return Ok(());
        };
        // The id becomes part of a path.
        if kept.id.is_empty()
            || !kept.id.bytes().all(|byte| byte.is_ascii_hexdigit())
            || kept.state.is_there()
        {
            return Ok(());
        }
        let words = ["--log-level=debug", "container", "inspect", "--", &kept.id];
        let said = self.command(words).output().map(|output| output.stderr).unwrap_or_default();
        if let Some(folder) = tmp_dir(&String::from_utf8_lossy(&said)) {
            // When it cannot be written, podman itself says soon what that means.
            let _ = write(&folder.join("exits").join(&kept.id));
        }
        Ok(())
    }
}

/// As the monitor does; one that is there says more.
fn write(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(KILLED)
}

fn tmp_dir(said: &str) -> Option<PathBuf> {
    let line = said.lines().find_map(|line| line.split_once(TMP_DIR))?;
    let path = line.1.trim_end().trim_end_matches('"');
    path.starts_with('/').then(|| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_found_among_what_podman_says() {
        let said = "time=\"2026-12-01T00:58:51Z\" level=debug msg=\"Using static dir /var/lib/x\"\n\
            time=\"2026-12-01T00:58:51Z\" level=debug msg=\"Using tmp dir /run/user/7/libpod/tmp\"\n";
        assert_eq!(tmp_dir(said), Some("/run/user/7/libpod/tmp".into()));
        assert_eq!(tmp_dir("level=debug msg=\"Using tmp dir x\""), None);
        assert_eq!(tmp_dir(""), None);
    }
}
