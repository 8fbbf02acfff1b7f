//! `make test` and `make torture`: cargo's tests with the rights that they need.

use crate::{build, stage};
use anyhow::{Context, Result, ensure};
use std::env;
use std::path::PathBuf;
use std::process::Command;

/// Rounds of the kill and race loops in `make torture`.
const TORTURE_ROUNDS: &str = "300";
/// How the tests find what was staged, and how many rounds are wanted.
const STAGE: &str = "FLAKE_STAGE";
const ROUNDS: &str = "FLAKE_ROUNDS";

/// Runs all tests.
pub(crate) fn test() -> Result<()> {
    run(&[], &["--workspace"])
}

/// Runs the kill and race loops for hundreds of rounds.
pub(crate) fn torture() -> Result<()> {
    run(&[(ROUNDS, TORTURE_ROUNDS.into())], &["--workspace", "--", "torture"])
}

fn run(envs: &[(&str, PathBuf)], words: &[&str]) -> Result<()> {
    // Built as the calling user; only the test programs themselves get root's rights.
    let prefix = build::target_dir().join("stage");
    stage::stage(&prefix)?;
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg("test").args(words).current_dir(build::workspace_root()).env(STAGE, &prefix);
    command.envs(envs.iter().map(|(name, value)| (name, value)));
    if !is_root()? {
        let triple = build::host_triple()?.to_uppercase().replace('-', "_");
        let kept = format!("sudo --preserve-env={STAGE},{ROUNDS},PATH,FLAKE_TEST_DATA,CARGO,RUST_BACKTRACE");
        command.env(format!("CARGO_TARGET_{triple}_RUNNER"), kept);
    }
    let status = command.status().context("cannot run cargo")?;
    ensure!(status.success(), "cargo test failed: {status}");
    Ok(())
}

fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output().context("cannot run id")?;
    Ok(output.stdout.trim_ascii() == b"0")
}
