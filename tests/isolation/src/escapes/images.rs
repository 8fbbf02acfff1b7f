//! Images in which the places of mounts are something else, and destinations that lead out.

use std::fs;

use anyhow::{Result, ensure};

use super::{Case, Ground, refused};
use crate::{Entry, Tree};

pub(super) const CASES: &[Case] =
    &[("places_of_mounts_that_are_links", links), ("volumes_stay_in_the_root", volumes)];

/// The host's, seen from an image.
const UP: &str = "../../../../../../../../";

/// What is where a mount is to be. The host's folder of that name must not be reached.
const ROOTS: [Tree; 18] = [
    tree("odd-proc-tmp", &[("proc", Entry::Link("/tmp"))]),
    tree("odd-proc-root", &[("proc", Entry::Link("/"))]),
    tree("odd-proc-up", &[("proc", Entry::Link(UP))]),
    tree("odd-proc-etc", &[("proc", Entry::Link("etc"))]),
    tree("odd-proc-file", &[("proc", Entry::File(0o644, 0, b""))]),
    tree("odd-proc-dangling", &[("proc", Entry::Link("/nowhere/at/all"))]),
    tree("odd-dev-tmp", &[("dev", Entry::Link("/tmp"))]),
    tree("odd-dev-proc", &[("dev", Entry::Link("/proc"))]),
    tree("odd-dev-file", &[("dev", Entry::File(0o644, 0, b""))]),
    tree("odd-sys-etc", &[("sys", Entry::Link("/etc"))]),
    tree("odd-sys-proc", &[("sys", Entry::Link("/proc/sys"))]),
    tree("odd-sys-file", &[("sys", Entry::File(0o644, 0, b""))]),
    tree("odd-shm", &[("dev", Entry::Folder(0o755)), ("dev/shm", Entry::Link("/proc"))]),
    tree("odd-hosts", &[("etc/hosts", Entry::Link("../../../../../../etc/passwd"))]),
    tree("odd-resolv", &[("etc/resolv.conf", Entry::Link("/proc/sys/kernel/core_pattern"))]),
    tree("odd-hostname", &[("etc/hostname", Entry::Folder(0o755))]),
    tree("odd-run", &[("run", Entry::Link("../../../../../../"))]),
    tree("odd-run-proc", &[("run", Entry::Link("/proc/self/root"))]),
];

const fn tree(name: &'static str, entries: &'static [(&'static str, Entry)]) -> Tree {
    Tree { name, entries, ..Tree::PLAIN }
}

/// What nobody but the test may change.
fn host() -> Result<Vec<String>> {
    let mut names: Vec<_> = fs::read_dir("/")?
        .map(|entry| Ok(entry?.file_name().display().to_string()))
        .collect::<Result<_>>()?;
    names.sort();
    for file in
        ["/etc/hosts", "/etc/resolv.conf", "/etc/passwd", "/etc/hostname", "/proc/sys/kernel/core_pattern"]
    {
        names.push(fs::read_to_string(file)?);
    }
    Ok(names)
}

/// The call is refused, or everything is as closed as ever; the host is as it was.
fn links(ground: &Ground<'_>) -> Result<()> {
    let before = host()?;
    let mut refusals = 0;
    for tree in &ROOTS {
        let is_refused = !runs_closed(ground, tree)?;
        refusals += usize::from(is_refused);
        ensure!(host()? == before, "{} has changed the host", tree.name);
    }
    ensure!(refusals < ROOTS.len(), "everything is refused, even what podman can do");
    Ok(())
}

/// Whether it runs at all; if so, with everything closed.
fn runs_closed(ground: &Ground<'_>, tree: &Tree) -> Result<bool> {
    let Ok(app) = ground.way.register(ground.host, tree, tree.name, &[]) else { return Ok(false) };
    let outcome = ground.way.call(&app, &["sh", "-c", "exec /bin/probe try kernels-files"])?;
    if !outcome.success() {
        ensure!(outcome.code == Some(125) && !outcome.stderr.is_empty(), "{}: {outcome}", tree.name);
        return Ok(false);
    }
    let rows = crate::way::lines(&outcome)?;
    for (row, value) in &rows {
        let is_empty = row.contains("kcore.read") && value == "ok 0";
        let is_judged = row.contains(".write") || row.contains("kcore.read");
        ensure!(!is_judged || is_empty || value.starts_with("errno "), "{}: {row} is {value:?}", tree.name);
    }
    let seen = ground.way.call(&app, &["sh", "-c", "ls / /run /tmp /proc /dev /sys 2>/dev/null; true"])?;
    let is_hosts = |name: &&str| ["boot", "srv", "home"].contains(name);
    ensure!(!seen.out().lines().any(|line| is_hosts(&line)), "{}: the host is seen: {seen}", tree.name);
    Ok(true)
}

fn volumes(ground: &Ground<'_>) -> Result<()> {
    const LINKED: Tree =
        tree("volumes", &[("out", Entry::Link("../../../../..")), ("absolute", Entry::Link("/proc/1/root"))]);
    let folder = ground.folder()?;
    let source = folder.display();
    let before = host()?;
    let places = [
        "/../../flake-up",
        "/out/flake-out",
        "/absolute/flake-absolute",
        "/tmp/../../../flake-tmp",
        "/proc/flake",
    ];
    for (index, place) in places.iter().enumerate() {
        let option = format!("\\--volume {source}:{place}");
        let name = format!("escape-volume{index}");
        let Ok(app) = ground.way.register(ground.host, &LINKED, &name, &["--opt", &option]) else { continue };
        let outcome = ground.way.call(&app, &["sh", "-c", "cat /*/file /flake*/file"])?;
        ensure!(outcome.out().contains("the host's") || outcome.code == Some(125), "{place}: {outcome}");
        ensure!(host()? == before, "{place} was made on the host");
    }
    // Nor may a mount be over what is masked or read-only.
    let option = format!("\\--volume {source}:/proc/sys/kernel");
    if let Ok(app) = ground.way.register(ground.host, &LINKED, "escape-volume-sys", &["--opt", &option]) {
        let outcome = ground.way.call(&app, &["sh", "-c", "exec /bin/probe try kernels-files"])?;
        if outcome.success() {
            refused(
                &crate::way::lines(&outcome)?,
                &["kernel./proc.sysrq-trigger.write", "kernel./proc.sys/kernel/modprobe.write"],
            )?;
        }
    }
    Ok(())
}
