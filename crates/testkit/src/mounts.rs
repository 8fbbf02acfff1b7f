//! The few kinds of mounts a scratch host is made of.

use std::fs;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

use crate::Result;
use crate::error::Context as _;

const NOTHING: Option<&str> = None;

/// Cuts the mounts of this namespace off from the machine's; podman inside still finds them shared, as it
/// expects.
pub(crate) fn detach() -> Result<()> {
    for flags in [MsFlags::MS_PRIVATE, MsFlags::MS_SHARED] {
        mount(NOTHING, "/", NOTHING, flags | MsFlags::MS_REC, NOTHING).context(|| "detach the mounts")?;
    }
    Ok(())
}

/// Makes `dir` writable without writing to it: what changes goes below `upper`.
pub(crate) fn overlay(dir: &str, upper: &Path) -> Result<()> {
    let (up, work) = (upper.join("up"), upper.join("work"));
    let mode = fs::metadata(dir).context(|| format!("look at {dir}"))?.permissions();
    for part in [&up, &work] {
        make_dir(part)?;
        fs::set_permissions(part, mode.clone()).context(|| format!("open {}", part.display()))?;
    }
    let options = format!("lowerdir={dir},upperdir={},workdir={}", up.display(), work.display());
    mount(Some("overlay"), dir, Some("overlay"), MsFlags::empty(), Some(options.as_str()))
        .context(|| format!("mount an overlay on {dir}"))
}

/// Mounts an empty tmpfs with `mode` on `dir`.
pub(crate) fn tmpfs(dir: &str, mode: u32) -> Result<()> {
    let (flags, options) = (MsFlags::MS_NOSUID | MsFlags::MS_NODEV, format!("mode={mode:o}"));
    mount(Some("tmpfs"), dir, Some("tmpfs"), flags, Some(options.as_str()))
        .context(|| format!("mount a tmpfs on {dir}"))
}

/// Mounts the process list of this pid namespace.
pub(crate) fn proc() -> Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, NOTHING).context(|| "mount /proc")
}

/// Shows `source` at `target`, which is made when absent, `recursive`ly with what is mounted below it.
pub(crate) fn bind(source: &Path, target: &Path, recursive: bool) -> Result<()> {
    make_dir(target)?;
    let flags = if recursive { MsFlags::MS_BIND | MsFlags::MS_REC } else { MsFlags::MS_BIND };
    mount(Some(source), target, NOTHING, flags, NOTHING)
        .context(|| format!("bind {} to {}", source.display(), target.display()))
}

/// Makes the bind mount at `target` read-only.
pub(crate) fn read_only(target: &Path) -> Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    mount(NOTHING, target, NOTHING, flags, NOTHING).context(|| format!("make {} read-only", target.display()))
}

/// Hides `dir` behind a tmpfs on which everything it held is still there, so that entries can be added.
pub(crate) fn extend(dir: &str, aside: &Path) -> Result<()> {
    bind(Path::new(dir), aside, true)?;
    tmpfs(dir, 0o755)?;
    let entries = fs::read_dir(aside).context(|| format!("list {}", aside.display()))?;
    for entry in entries {
        let entry = entry.context(|| format!("list {}", aside.display()))?;
        let target = PathBuf::from(dir).join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            bind(&entry.path(), &target, true)?;
        }
    }
    Ok(())
}

fn make_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).context(|| format!("make {}", dir.display()))
}
