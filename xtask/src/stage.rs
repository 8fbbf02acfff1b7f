//! An install tree: `bin/`, `libexec/flake-pilot/` and `share/` below one folder.

use crate::build;
use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// The engines' launchers: links to the one launcher binary.
const PILOTS: [&str; 3] = ["podman-pilot", "firecracker-pilot", "northstar-pilot"];
/// Older names of the management command.
const CTL_NAMES: [&str; 2] = ["oci-ctl", "oci-register"];

/// Builds everything and lays it out below `prefix`, replacing what an earlier stage left.
pub(crate) fn stage(prefix: &Path) -> Result<()> {
    let built = build::build()?;
    let bin = prefix.join("bin");
    let libexec = prefix.join("libexec/flake-pilot");
    for dir in [&bin, &libexec] {
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    }
    install(&built.pilot, &bin.join("flake-pilot"))?;
    install(&built.ctl, &bin.join("flake-ctl"))?;
    install(&built.sci, &libexec.join("sci"))?;
    for name in PILOTS {
        link("flake-pilot", &bin.join(name))?;
    }
    for name in CTL_NAMES {
        link("flake-ctl", &bin.join(name))?;
    }
    manual(&built.ctl, &prefix.join("share/man"))?;
    completions(&built.ctl, &prefix.join("share"))
}

/// The manual pages, each in the folder of its section.
fn manual(ctl: &Path, folder: &Path) -> Result<()> {
    let flat = folder.join("new");
    run(Command::new(ctl).arg("man").arg(&flat))?;
    for entry in fs::read_dir(&flat).with_context(|| format!("cannot list {}", flat.display()))? {
        let page = entry?.path();
        let section = page.extension().and_then(OsStr::to_str).context("a page without a section")?;
        let section = folder.join(format!("man{section}"));
        fs::create_dir_all(&section).with_context(|| format!("cannot create {}", section.display()))?;
        fs::rename(&page, section.join(page.file_name().unwrap_or_default()))?;
    }
    fs::remove_dir(&flat).with_context(|| format!("cannot remove {}", flat.display()))
}

/// Completions, where the shells look for them.
fn completions(ctl: &Path, share: &Path) -> Result<()> {
    for (shell, file) in [
        ("bash", "bash-completion/completions/flake-ctl"),
        ("zsh", "zsh/site-functions/_flake-ctl"),
        ("fish", "fish/vendor_completions.d/flake-ctl.fish"),
    ] {
        let output = run(Command::new(ctl).args(["completions", shell]))?;
        let file = share.join(file);
        let folder = file.parent().unwrap_or(share);
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(&file, output).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.stderr(Stdio::inherit()).output().context("cannot run flake-ctl")?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok(output.stdout)
}

/// Copies a program beside its place and renames it over, so that a running one is not disturbed.
fn install(from: &Path, to: &Path) -> Result<()> {
    let fresh = to.with_extension("new");
    fs::copy(from, &fresh)
        .with_context(|| format!("cannot copy {} to {}", from.display(), fresh.display()))?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(0o755))?;
    fs::rename(&fresh, to).with_context(|| format!("cannot write {}", to.display()))
}

fn link(target: &str, path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => symlink(target, path),
    }
    .with_context(|| format!("cannot link {}", path.display()))
}
