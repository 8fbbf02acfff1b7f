//! Filters of system calls, compiled.

mod compact;
mod interpret;
mod program;
mod terminal;
mod words;

use crate::error::Reason;
use flake_plan::Seccomp;
use libseccomp::ScmpFilterContext;
use libseccomp::error::SeccompError;
use oci_spec::runtime::LinuxSeccomp;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{Read, Seek};

/// libseccomp's level of optimisation at which a program is a binary tree of the calls' numbers, not a list.
const TREE: u32 = 2;

/// The specification's filter with the one that is always there; both in one where that is possible.
pub(crate) fn filters(seccomp: Option<&LinuxSeccomp>) -> Result<Vec<Seccomp>, Reason> {
    Ok(compact::compact(compiled(seccomp)?))
}

/// The two filters as libseccomp makes them.
fn compiled(seccomp: Option<&LinuxSeccomp>) -> Result<Vec<Seccomp>, Reason> {
    let mut filters = Vec::new();
    if let Some(seccomp) = seccomp {
        let flags = words::flags(seccomp.flags().as_deref().unwrap_or_default())?;
        filters.push(Seccomp { program: program(words::filter(seccomp)?)?, flags });
    }
    let terminal = terminal::filter().map_err(|error| failed(&error))?;
    filters.push(Seccomp { program: program(terminal)?, flags: 0 });
    Ok(filters)
}

/// The program of a filter.
fn program(mut filter: ScmpFilterContext) -> Result<Vec<u8>, Reason> {
    // Older libraries know no trees.
    let _ = filter.set_ctl_optimize(TREE);
    let written = || -> std::io::Result<Vec<u8>> {
        let mut file = File::from(memfd_create("seccomp", MemfdFlags::CLOEXEC)?);
        filter.export_bpf(&file).map_err(std::io::Error::other)?;
        file.rewind()?;
        let mut program = Vec::new();
        file.read_to_end(&mut program)?;
        Ok(program)
    };
    written().map_err(|error| format!("a filter of system calls that could not be compiled: {error}").into())
}

fn failed(error: &SeccompError) -> Reason {
    Reason(format!("a filter of system calls that could not be compiled: {error}"))
}

#[cfg(test)]
mod tests;
