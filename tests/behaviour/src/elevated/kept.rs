//! Instances that root's store keeps for a user, beside root's own. What a user sees of them is in the trials of
//! instances, as for every other way.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Outcome, ROOT};

use super::{Case, Ground, call};

pub(super) const CASES: &[Case] = &[("kept_instance_is_each_users_own", apart)];

fn said(outcome: &Outcome, text: &str) -> Result<()> {
    ensure!(outcome.success() && outcome.out() == text, "{text:?} expected: {outcome}");
    Ok(())
}

fn apart(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("kept-apart", &["--mutable"])?;
    said(&call(&ADA, &app, &["sh", "-c", "echo adas > /file"])?, "")?;
    said(&call(&ROOT, &app, &["sh", "-c", "test ! -e /file"])?, "")?;
    ensure!(ground.made("kept-apart")? == 2);
    for user in [ADA.id, 0] {
        let name = format!("flake.{user}..kept-apart");
        ground.host.podman(&ROOT, ["rm", "--force", "--time", "0", &name]).check()?;
    }
    // The sockets are root's.
    let folder = fs::metadata("/run/flakes")?;
    ensure!(folder.uid() == 0 && folder.mode() & 0o777 == 0o700, "{folder:?}");
    Ok(())
}
