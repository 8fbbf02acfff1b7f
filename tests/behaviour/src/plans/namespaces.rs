//! Users who may not have a namespace, programs that are missing, and podman's own namespace that is another.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Outcome, ROOT, processes, until};
use nix::sys::signal::Signal;

use super::ground::{Case, Flake, Ground, refused, works};

pub(super) const CASES: &[Case] = &[
    ("no_namespace_is_allowed", not_allowed),
    ("a_pause_process_that_is_none", pauses),
    ("no_management_command", no_management),
];

/// Alone, since they take something away from the host.
pub(super) const ALONE: &[Case] = &[
    ("no_pause_process", no_pause),
    ("no_pause_process_and_no_namespace", no_pause_not_allowed),
    ("no_programs_that_map_ids", no_mappers),
];

/// In a chroot nobody may make a user namespace.
const CHROOT: &str = r#"mkdir -p "$1"; mount --rbind / "$1"; enter="chroot $1""#;

/// A folder of ada's as `XDG_RUNTIME_DIR`, in which podman has left nothing yet.
fn runtime_folder(ground: &Ground<'_>) -> Result<PathBuf> {
    let folder = PathBuf::from(format!("/tmp/runtime-{}", ground.host.mark()));
    fs::create_dir(&folder)?;
    fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
    chown(&folder, Some(ADA.id), Some(ADA.id))?;
    Ok(folder)
}

fn in_chroot(ground: &Ground<'_>, flake: &Flake<'_>, runtime: Option<&Path>) -> Result<Outcome> {
    let jail = format!("/tmp/jail-{}", ground.host.mark());
    let mut command = flake.within(CHROOT, &[&jail]);
    if let Some(runtime) = runtime {
        command.env("XDG_RUNTIME_DIR", runtime);
    }
    let outcome = Call::new(command).run()?;
    fs::remove_dir(&jail)?;
    Ok(outcome)
}

fn not_allowed(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    // Root needs none.
    if ground.way.caller.id == 0 {
        return works(&in_chroot(ground, &flake, None)?);
    }
    let runtime = runtime_folder(ground)?;
    let before = flake.written()?;
    refused(&in_chroot(ground, &flake, Some(&runtime))?, "user namespaces")?;
    ensure!(flake.written()? == before, "the plan was not at fault");
    Ok(fs::remove_dir_all(runtime)?)
}

/// The namespace is made as if there were no such process.
fn pauses(ground: &Ground<'_>) -> Result<()> {
    if ground.way.caller.id == 0 {
        return Ok(());
    }
    let flake = ground.flake()?;
    let runtime = runtime_folder(ground)?;
    let folder = runtime.join("libpod/tmp");
    fs::create_dir_all(&folder)?;
    let mark = ground.host.mark();
    let mut other = ADA.command("/usr/bin/unshare");
    other.args(["--user", "--map-root-user", "sleep", &mark]);
    let mut other = Call::new(other).spawn()?;
    processes::until_state(&mark, 'S')?;
    for pid in [other.id().to_string(), "1".into(), "4194304".into(), "-1".into(), String::new(), "x".into()]
    {
        fs::write(folder.join("pause.pid"), &pid)?;
        let before = flake.written()?;
        let mut command = flake.command(&["echo", "word"]);
        command.env("XDG_RUNTIME_DIR", &runtime);
        works(&Call::new(command).run()?).with_context(|| format!("pause.pid: {pid:?}"))?;
        ensure!(flake.written()? == before, "pause.pid {pid:?}: planned anew");
    }
    other.kill()?;
    other.wait()?;
    processes::until_gone(&mark)?;
    Ok(fs::remove_dir_all(runtime)?)
}

/// A launcher that was put elsewhere alone.
fn no_management(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let prefix = PathBuf::from(format!("/usr/{}", ground.host.mark()));
    let link = prefix.join("links").join(&flake.name);
    for folder in ["bin", "links", "libexec/flake-pilot"] {
        fs::create_dir_all(prefix.join(folder))?;
    }
    fs::copy("/usr/bin/flake-pilot", prefix.join("bin/flake-pilot"))?;
    fs::copy("/usr/libexec/flake-pilot/sci", prefix.join("libexec/flake-pilot/sci"))?;
    symlink("flake-pilot", prefix.join("bin/podman-pilot"))?;
    symlink(prefix.join("bin/podman-pilot"), &link)?;
    let call = || {
        let mut command = ground.way.caller.command(&link);
        command.args(["echo", "word"]);
        works(&Call::new(command).run()?)
    };
    let before = flake.written()?;
    call()?;
    ensure!(flake.written()? == before);
    fs::remove_file(&flake.plan)?;
    call()?;
    call()?;
    ensure!(!flake.plan.exists());
    Ok(fs::remove_dir_all(prefix)?)
}

/// Ends podman's process that keeps the namespace.
fn end_pause() -> Result<()> {
    let file = ADA.runtime_dir().context("no runtime folder")?.join("libpod/tmp/pause.pid");
    let Ok(text) = fs::read_to_string(&file) else { return Ok(()) };
    let pid: u32 = text.trim().parse().context("pause.pid")?;
    processes::kill(pid, Signal::SIGKILL);
    let gone = || (!processes::all().iter().any(|process| process.pid == pid)).then_some(());
    Ok(until("the end of podman's pause process", gone, || text.clone())?)
}

fn no_pause(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    end_pause()?;
    flake.keeps_its_plan("no pause process")?;
    flake.keeps_its_plan("no pause process, again")?;
    fs::remove_file(&flake.plan)?;
    works(&flake.echo()?)?;
    ensure!(flake.goes_straight()?);
    flake.keeps_its_plan("podman has it again")
}

fn no_pause_not_allowed(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    if ground.way.caller.id == 0 {
        return Ok(());
    }
    end_pause()?;
    refused(&in_chroot(ground, &flake, None)?, "user namespaces")?;
    // Not even a plan can be made.
    fs::remove_file(&flake.plan)?;
    let outcome = in_chroot(ground, &flake, None)?;
    ensure!(outcome.code == Some(125) && outcome.err().lines().count() == 1, "{outcome}");
    works(&flake.echo()?)?;
    ensure!(flake.goes_straight()?);
    Ok(())
}

fn no_mappers(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    end_pause()?;
    let shell = |script: &str| {
        let mut command = ROOT.command("/bin/sh");
        command.args(["-ec", script]);
        Call::new(command).check()
    };
    for program in ["newuidmap", "newgidmap"] {
        shell(&format!("mv /usr/bin/{program} /usr/bin/{program}.aside"))?;
        let with_plan = flake.echo();
        let aside = fs::rename(&flake.plan, flake.plan.with_extension("aside"));
        let without = flake.echo();
        shell(&format!("mv /usr/bin/{program}.aside /usr/bin/{program}"))?;
        aside?;
        let (with_plan, without) = (with_plan?, without?);
        if ground.way.caller.id == 0 {
            works(&with_plan)?;
            works(&without)?;
            continue;
        }
        refused(&with_plan, program)?;
        ensure!(without.code == Some(125) && without.stdout.is_empty(), "{without}");
        ensure!(without.err().contains(program), "{without}");
        fs::rename(flake.plan.with_extension("aside"), &flake.plan)?;
        flake.keeps_its_plan("the program is there again")?;
        end_pause()?;
    }
    Ok(())
}
