//! How large the launcher is, on disk and while an application runs.

use std::fs;

use anyhow::{Context as _, Result};
use flake_testkit::{ScratchHost, Subject, processes, until};

use crate::direct::command;
use crate::table::figure;

const MIB: f64 = 1024.0 * 1024.0;
/// Of memory, in MiB.
const MEMORY: f64 = 8.0;
/// Of the program, in MiB.
const PROGRAM: f64 = 3.0;

/// What the launcher and the first process inside hold in memory, what they share with others included.
pub(crate) fn while_it_runs(host: &ScratchHost, subject: &Subject) -> Result<()> {
    let mark = host.mark();
    let mut launcher = command(subject.user, &subject.app).args(["sleep", &mark]).spawn()?;
    let inside = || {
        let all = processes::all();
        let is_child = |process: &&processes::Process| process.parent == launcher.id();
        let is_up = all.iter().filter(is_child).any(|process| process.line.contains(&mark));
        let init = all.iter().filter(is_child).find(|process| process.name == "flake-init");
        init.filter(|_| is_up).map(|process| process.pid)
    };
    let found = until("the app", inside, || format!("{:#?}", processes::marked(&mark)));
    let sizes = found.map(|init| (resident(launcher.id()), resident(init)));
    launcher.kill()?;
    launcher.wait()?;
    let (launcher, init) = sizes?;
    figure("memory of the launcher, MiB", None, launcher?, MEMORY);
    figure("memory of the first process inside, MiB", None, init?, MEMORY);
    Ok(())
}

/// `VmRSS` of proc(5), in MiB.
pub(crate) fn resident(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}

/// The launcher as it is installed.
pub(crate) fn of_the_program() -> Result<()> {
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    let length = fs::metadata("/usr/bin/flake-pilot")?.len() as f64;
    figure("the launcher's file, MiB", None, length / MIB, PROGRAM);
    Ok(())
}
