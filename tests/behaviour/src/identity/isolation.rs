//! What the app sees of the host without sharing: nothing.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::Call;

use super::Case;
use super::apps::Apps;

pub(super) const CASES: &[Case] = &[
    ("files_of_the_host_are_invisible", files),
    ("accounts_of_the_host_are_invisible", accounts),
    ("processes_of_the_host_are_invisible", processes),
    ("what_the_app_writes_is_gone_with_it", gone),
    ("descriptors_of_the_caller_are_closed", descriptors),
    ("the_agent_cannot_be_overwritten", agent),
];

fn files(apps: &Apps<'_>) -> Result<()> {
    let name = format!("isolation-{}", apps.host.mark());
    let home = apps.user.home();
    for dir in [
        home.as_path(),
        Path::new("/tmp"),
        Path::new("/etc"),
        Path::new("/usr"),
        Path::new("/srv"),
        Path::new("/run"),
    ] {
        let path = dir.join(&name);
        fs::write(&path, "secret")?;
        let outcome = apps.plain(dir, &["cat", &path.to_string_lossy()])?;
        fs::remove_file(&path)?;
        ensure!(!outcome.success() && outcome.out().is_empty(), "{} is visible: {outcome}", path.display());
    }
    let outcome = apps.plain(&home, &["ls", "/home"])?;
    ensure!(outcome.out().is_empty(), "{outcome}");
    let outcome = apps.plain(&home, &["pwd"])?;
    ensure!(outcome.out() == "/\n", "{outcome}");
    Ok(())
}

/// The image's /etc/passwd is what the image says, unless the app is the caller: then one line more.
fn accounts(apps: &Apps<'_>) -> Result<()> {
    let outcome = apps.plain(Path::new("/"), &["cat", "/etc/passwd"])?;
    ensure!(!outcome.out().contains("ada") && !outcome.out().contains("bob"), "{outcome}");
    let outcome = apps.here(&apps.directory()?, &["cat", "/etc/passwd", "/etc/group"])?;
    ensure!(!outcome.out().contains("bob") && outcome.out().contains(apps.user.name), "{outcome}");
    Ok(())
}

fn processes(apps: &Apps<'_>) -> Result<()> {
    let outcome = apps.plain(Path::new("/"), &["ps", "-o", "pid,args"])?;
    let lines = outcome.out().lines().count();
    ensure!(outcome.success() && lines < 8 && !outcome.out().contains("identity"), "{outcome}");
    Ok(())
}

fn gone(apps: &Apps<'_>) -> Result<()> {
    let name = format!("/tmp/gone-{}", apps.host.mark());
    let outcome = apps.plain(Path::new("/"), &["sh", "-c", "echo x >$1 && cat $1", "sh", &name])?;
    ensure!(outcome.out() == "x\n", "{outcome}");
    let outcome = apps.plain(Path::new("/"), &["cat", &name])?;
    ensure!(!outcome.success(), "{outcome}");
    ensure!(!Path::new(&name).exists());
    Ok(())
}

/// Neither the caller's other descriptors nor the launcher's or the agent's.
fn descriptors(apps: &Apps<'_>) -> Result<()> {
    let list = ["sh", "-c", "for fd in /proc/$$/fd/*; do echo ${fd##*/}; done"];
    let expected = apps.control(Path::new("/"), &list)?;
    let script = r#"app=$1; shift; exec "$app" "$@" 7</etc/passwd 8</ 9>/dev/null"#;
    let mut command = apps.user.command("/usr/bin/bash");
    command.args(["-c", script, "bash"]).arg(apps.here_path()).args(list);
    let found = Call::new(command).run()?;
    ensure!(found == expected, "the host command gave {expected}\nthis gave {found}");
    Ok(())
}

/// The program that is the first process in there is the host's file; the app can neither write nor replace
/// it.
fn agent(apps: &Apps<'_>) -> Result<()> {
    let before = fs::read("/usr/libexec/flake-pilot/sci")?;
    let script = r#"
        for file in /proc/1/exe /run/podman-init /dev/init; do
            { echo broken >$file; } 2>/dev/null && echo wrote $file
            rm -f $file 2>/dev/null && [ ! -e $file ] && echo removed $file
        done; true"#;
    let outcome = apps.plain(Path::new("/"), &["sh", "-c", script])?;
    ensure!(outcome.success(), "{outcome}");
    ensure!(fs::read("/usr/libexec/flake-pilot/sci")? == before, "the agent was changed: {outcome}");
    Ok(())
}
