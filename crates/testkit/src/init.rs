//! The first process of a scratch host: it reaps what nobody waits for and ends with the tests.

use std::process::{Command, ExitCode};

use nix::sys::wait::{WaitStatus, wait};

use crate::Result;
use crate::error::Context as _;

/// Starts `command`, waits for it and for everything that becomes an orphan, and gives the status as a shell
/// does.
///
/// When this process ends the kernel kills all others of its pid namespace.
pub(crate) fn reap_until_end(command: &mut Command) -> Result<ExitCode> {
    let child = command.spawn().context(|| "start the tests")?;
    loop {
        let status = wait().context(|| "wait for the tests")?;
        if status.pid().is_none_or(|pid| i64::from(pid.as_raw()) != i64::from(child.id())) {
            continue;
        }
        let code = match status {
            WaitStatus::Exited(_, code) => code,
            WaitStatus::Signaled(_, signal, _) => 128 + signal as i32,
            _ => continue,
        };
        return Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)));
    }
}
