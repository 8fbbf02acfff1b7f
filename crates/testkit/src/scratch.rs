//! The directory on disk behind a scratch host.

use std::fs::{self, File, Permissions, TryLockError};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::Context as _;
use crate::{Error, Result};

/// Where scratch directories go: container stores need a file system that can be the upper side of an
/// overlay.
const BASES: [&str; 2] = ["/var/tmp", "/tmp"];
const PREFIX: &str = "flake-scratch-";
const OVERLAYFS_MAGIC: u64 = 0x794c_7630;
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// A scratch directory; held by a lock so that a later run can tell a dead one, removed with
/// [`Scratch::remove`].
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes a new one and removes those whose owner died.
    pub(crate) fn new() -> Result<Self> {
        let base = base()?;
        sweep(&base);
        let dir = base.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&dir).context(|| format!("make {}", dir.display()))?;
        fs::set_permissions(&dir, Permissions::from_mode(0o700))
            .context(|| format!("close {}", dir.display()))?;
        let lock = File::create(dir.join("lock")).context(|| format!("make a lock in {}", dir.display()))?;
        lock.lock().context(|| format!("lock {}", dir.display()))?;
        Ok(Self { dir, _lock: lock })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes the directory with everything in it.
    pub(crate) fn remove(self) -> Result<()> {
        remove(&self.dir)
    }
}

fn base() -> Result<PathBuf> {
    for base in BASES {
        let stat = rustix::fs::statfs(base).context(|| format!("look at {base}"))?;
        let kind = u64::try_from(stat.f_type).unwrap_or_default();
        if kind != OVERLAYFS_MAGIC && kind != TMPFS_MAGIC {
            return Ok(PathBuf::from(base));
        }
    }
    Err(Error::Setup(format!("needs a directory on a disk: {} are not", BASES.join(" and "))))
}

/// Removes what runs left that were killed before they could clean up.
fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let dir = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let abandoned = match File::open(dir.join("lock")).map(|lock| lock.try_lock()) {
            Ok(Ok(())) => true,
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => false,
        };
        if abandoned {
            let _ = remove(&dir);
        }
    }
}

/// Removes `dir`, but never through a mount: below a scratch directory there may be binds of real
/// directories.
fn remove(dir: &Path) -> Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").context(|| "read the mounts")?;
    let below = |line: &str| line.split(' ').nth(4).is_some_and(|point| Path::new(point).starts_with(dir));
    if mounts.lines().any(below) {
        let problem = "still has mounts in it and is left alone".to_owned();
        return Err(Error::Path { path: dir.to_owned(), problem });
    }
    fs::remove_dir_all(dir).context(|| format!("remove {}", dir.display()))
}
