//! The release build of everything that ships.

use anyhow::{Context, Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs of one release build.
pub(crate) struct Built {
    /// The launcher, a static executable: half of what a call costs would be its dynamic linking.
    pub(crate) pilot: PathBuf,
    /// The agent, a static executable: images need not have a libc.
    pub(crate) sci: PathBuf,
    /// The management command.
    pub(crate) ctl: PathBuf,
}

/// Builds launcher, management command and agent in release mode.
pub(crate) fn build() -> Result<Built> {
    let target_dir = target_dir();
    cargo(&["build", "--release", "--package", "flake-ctl"], &[])?;

    // With an explicit target the flag does not reach proc macros, which cannot be static.
    let triple = host_triple()?;
    let static_dir = target_dir.join("static");
    cargo(
        &["build", "--release", "--package", "flake-pilot", "--package", "sci", "--target", &triple],
        &[
            ("RUSTFLAGS", "-C target-feature=+crt-static".as_ref()),
            ("CARGO_TARGET_DIR", static_dir.as_os_str()),
        ],
    )?;
    let programs = static_dir.join(triple).join("release");
    Ok(Built {
        pilot: programs.join("flake-pilot"),
        sci: programs.join("sci"),
        ctl: target_dir.join("release/flake-ctl"),
    })
}

/// Where cargo builds.
pub(crate) fn target_dir() -> PathBuf {
    let root = workspace_root();
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

/// The folder of the workspace's `Cargo.toml`.
pub(crate) fn workspace_root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

fn cargo(args: &[&str], envs: &[(&str, &std::ffi::OsStr)]) -> Result<()> {
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(args)
        .arg("--quiet")
        .envs(envs.iter().copied())
        .current_dir(workspace_root())
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo {} failed: {status}", args.join(" "));
    }
    Ok(())
}

/// The machine that is built on.
pub(crate) fn host_triple() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8(output.stdout).context("rustc -vV is not UTF-8")?;
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("rustc -vV names no host")
}
