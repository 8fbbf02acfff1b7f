//! Building the product and installing it on a scratch host.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Context as _;
use crate::{Error, Result};

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lays the product out below `prefix`, as `make install` does.
///
/// Runs outside of the scratch host, which has no network and another /tmp.
pub(crate) fn stage(prefix: &Path) -> Result<()> {
    // `make test` has built it with the rights of whoever called.
    if let Some(staged) = std::env::var_os("FLAKE_STAGE") {
        return install(Path::new(&staged), prefix);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["xtask", "stage"])
        .arg(prefix)
        .current_dir(workspace())
        .status()
        .context(|| "run cargo xtask stage")?;
    if status.success() { Ok(()) } else { Err(Error::Setup(format!("cargo xtask stage: {status}"))) }
}

/// Copies the tree at `from` into the directory `to`, links as links, and replaces files that are there.
pub(crate) fn install(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).context(|| format!("make {}", to.display()))?;
    for entry in fs::read_dir(from).context(|| format!("list {}", from.display()))? {
        let entry = entry.context(|| format!("list {}", from.display()))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().context(|| format!("look at {}", source.display()))?;
        if kind.is_dir() {
            install(&source, &target)?;
            continue;
        }
        if target.symlink_metadata().is_ok() {
            fs::remove_file(&target).context(|| format!("replace {}", target.display()))?;
        }
        if kind.is_symlink() {
            let aim = fs::read_link(&source).context(|| format!("read {}", source.display()))?;
            symlink(aim, &target).context(|| format!("link {}", target.display()))?;
        } else {
            fs::copy(&source, &target).context(|| format!("copy {}", source.display()))?;
        }
    }
    Ok(())
}
