//! Other processes: the launcher's init inside, and everybody's outside.

use std::fs;

use anyhow::{Result, ensure};
use flake_testkit::{Call, processes};

use super::{Case, Ground, refused, works};

pub(super) const CASES: &[Case] = &[
    ("the_init_has_no_doors", doors),
    ("the_init_does_not_care_for_signals", signals),
    ("a_signal_with_a_forged_sender_is_none", forged),
    ("processes_of_the_host_are_not_seen", others),
    ("mounts_of_the_host_are_not_seen", mounts),
];

/// What leads into a process, or lets it be changed.
const DOORS: [&str; 15] = [
    "exe.",
    "root.",
    "cwd.",
    "root/etc.",
    "cwd/..",
    "fd.0.",
    "fd.1.",
    "fd.2.",
    "mem.",
    "environ.",
    "ptrace.",
    "memory",
    "descriptor",
    "join.",
    "map_files.",
];

fn doors(ground: &Ground<'_>) -> Result<()> {
    let rows = ground.attempt(&["process", "1"])?;
    refused(&rows, &DOORS)?;
    // A process of one's own has all of them open.
    let script = "sleep 100 </dev/null >/dev/null 2>&1 & /bin/probe try process $!; kill -9 $!";
    let own = crate::way::lines(&ground.shell(script)?)?;
    for row in ["exe.read", "root/etc.names", "cwd/...names", "environ.read", "ptrace.attach", "mem.write"] {
        works(&own, row)?;
    }
    Ok(())
}

fn signals(ground: &Ground<'_>) -> Result<()> {
    let rows = ground.attempt(&["signals", "1"])?;
    ensure!(rows.get("signals.after").is_some_and(|after| after == "there"), "{rows:#?}");
    // It still reaps, and the command's own status is the call's.
    let script = "/bin/probe try signals 1 >/dev/null; (sleep 0.1 &); sleep 0.3; \
                  busybox ps -o stat | busybox grep -c Z; exit 9";
    let outcome = ground.shell(script)?;
    ensure!(outcome.code == Some(9) && outcome.out() == "0\n", "{outcome}");
    Ok(())
}

/// The launcher asks its init by a signal: whoever else sends that gets no hold on the launcher.
fn forged(ground: &Ground<'_>) -> Result<()> {
    let script =
        "for i in 1 2 3 4 5; do /bin/probe try signals 1 >/dev/null; done; echo ready; sleep 100; exit 3";
    let app = ground.plain()?;
    let command = ground.way.command(&app, &["sh", "-c", script]);
    let conversation = flake_testkit::Conversation::new(Call::new(command).spawn()?);
    conversation.expect("ready")?;
    conversation.signal(nix::sys::signal::Signal::SIGTERM);
    let outcome = conversation.end()?;
    ensure!(outcome.signal == Some(15), "a signal to the launcher is lost: {outcome}");
    Ok(())
}

fn others(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.shell("cat /proc/[0-9]*/cmdline | busybox tr '\\0' '\\n'; echo /proc/[0-9]*")?;
    let numbers = outcome.out().lines().last().unwrap_or_default().split(' ').count();
    ensure!(outcome.success() && numbers <= 5, "{outcome}");
    ensure!(
        processes::all().iter().any(|process| process.line.contains("/proc/self/exe")),
        "the host has no processes"
    );
    for word in ["flake-pilot", "podman", "catatonit", "/proc/self/exe"] {
        ensure!(!outcome.out().contains(word), "{word} is seen: {outcome}");
    }
    Ok(())
}

fn mounts(ground: &Ground<'_>) -> Result<()> {
    let hosts = fs::read_to_string("/proc/self/mountinfo")?;
    ensure!(hosts.contains(" /home/ada "), "the host has no such mount: {hosts}");
    for file in ["/proc/self/mountinfo", "/proc/1/mountinfo", "/proc/mounts", "/proc/1/mounts"] {
        let outcome = ground.shell(&format!("cat {file}"))?;
        ensure!(outcome.success() && outcome.out().lines().count() > 10, "{outcome}");
        for place in [" /home", " /var/lib", " /usr", " /run/user", " /srv"] {
            ensure!(!outcome.out().contains(place), "{file} has{place}: {outcome}");
        }
    }
    Ok(())
}
