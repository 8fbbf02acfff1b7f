//! Podman's configuration on a scratch host.
//!
//! A scratch host has no systemd, so control groups are managed by podman itself and events go to a file. The
//! rest is podman's default unless the machine is odd: crun refuses a host with version 1 control groups, and
//! without `CAP_SYS_RESOURCE` podman's default limits cannot be set. Keys: containers.conf(5),
//! containers-storage.conf(5).

use std::fs;
use std::path::Path;

use crate::error::Context as _;
use crate::{Result, gate};

/// `CAP_SYS_RESOURCE`, which raising a limit needs.
const SYS_RESOURCE: u32 = 24;

const STORAGE: &str = "\
[storage]
driver = \"overlay\"
runroot = \"/run/containers/storage\"
graphroot = \"/var/lib/containers/storage\"
";

const LOWERED: &str = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n\n";

/// Writes both files below the private /etc.
pub(crate) fn write() -> Result<()> {
    let dir = Path::new("/etc/containers");
    fs::create_dir_all(dir).context(|| "make /etc/containers")?;
    // The old name of containers.conf, which podman would still read.
    let old = dir.join("libpod.conf");
    if old.exists() {
        fs::remove_file(&old).context(|| "remove the private /etc/containers/libpod.conf")?;
    }
    for (name, text) in [("containers.conf", containers()), ("storage.conf", STORAGE.to_owned())] {
        fs::write(dir.join(name), text).context(|| format!("write /etc/containers/{name}"))?;
    }
    Ok(())
}

fn containers() -> String {
    let limits = if gate::capable(SYS_RESOURCE) { "" } else { LOWERED };
    let runtime = if unified_cgroups() { "" } else { "runtime = \"runc\"\n" };
    format!(
        "{limits}[engine]\n{runtime}cgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n\n\
         [network]\nnetwork_backend = \"netavark\"\n"
    )
}

/// Whether there are only version 2 control groups.
pub(crate) fn unified_cgroups() -> bool {
    Path::new("/sys/fs/cgroup/cgroup.controllers").exists()
}
