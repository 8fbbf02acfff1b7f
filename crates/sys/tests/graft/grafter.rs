//! The caller: this binary once more, run by a user in the folder that it mounts.

use anyhow::Result;
use flake_sys::graft::Graft;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Once;

/// Says that this is the user's run, and which process is the container's first.
pub(crate) const CONTAINER: &str = "FLAKE_TEST_CONTAINER";
/// What is mounted is read-only.
pub(crate) const READ_ONLY: &str = "FLAKE_TEST_READ_ONLY";

/// This binary, where every user can run it.
pub(crate) fn program() -> &'static Path {
    static COPIED: Once = Once::new();
    let program = Path::new("/usr/local/bin/grafter");
    COPIED.call_once(|| {
        fs::copy("/proc/self/exe", program).expect("the grafter can be copied");
    });
    program
}

/// Mounts the working directory at the path that is the first word; none when this is not the user's run.
pub(crate) fn main() -> Option<ExitCode> {
    let container = std::env::var(CONTAINER).ok()?;
    Some(match mount(&container) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error:#}");
            ExitCode::FAILURE
        }
    })
}

fn mount(container: &str) -> Result<()> {
    let target = std::env::args_os().nth(1).map(PathBuf::from).unwrap_or_default();
    let pid = container.parse().ok().and_then(Pid::from_raw).ok_or_else(|| anyhow::anyhow!("no pid"))?;
    let container = pidfd_open(pid, PidfdFlags::empty())?;
    let folder = open(".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let read_only = std::env::var_os(READ_ONLY).is_some();
    Ok(Graft { container: container.as_fd(), folder: folder.as_fd(), target: &target, read_only }.mount()?)
}
