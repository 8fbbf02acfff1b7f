//! Namespaces, mounts, roots, handles, keys, control groups: what the kernel refuses to whoever is not to have it.

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use anyhow::{Result, ensure};
use flake_testkit::Call;

use super::{Case, Ground, no_more_than, refused, works};
use crate::{Entry, Tree};

pub(super) const CASES: &[Case] = &[
    ("nothing_is_mounted_or_unmounted", mounts),
    ("no_namespace_has_more_rights", namespaces),
    ("a_root_in_the_root_is_no_way_up", climb),
    ("handles_lead_nowhere", handles),
    ("keys_of_the_caller_are_not_found", keys),
    ("control_groups_and_the_kernel_s_settings_cannot_be_written", settings),
    ("abstract_sockets_are_out_of_reach_without_a_network", sockets),
    ("rights_do_not_grow", rights),
];

const PLACES: [&str; 7] = ["/", "/proc", "/proc/sys", "/sys", "/dev", "/proc/keys", "/etc/hosts"];

fn mounts(ground: &Ground<'_>) -> Result<()> {
    let words = [&["mounts"][..], &PLACES].concat();
    let rows = ground.attempt(&words)?;
    refused(&rows, &["mount.", "unmount.", "pivot_root"])?;
    no_more_than(&ground.under_podman(&words)?, &rows)?;
    // With the right to it is another matter: the attempts are good ones.
    if !ground.is_root() {
        let options = ["--opt", "\\--cap-add SYS_ADMIN"];
        let app = ground.way.flake(ground.host, &Tree::PLAIN, "escape-admin", &options)?;
        works(&ground.way.attempt(&app, &words)?, "mount.new.tmpfs")?;
    }
    Ok(())
}

fn namespaces(ground: &Ground<'_>) -> Result<()> {
    let words = [&["namespaces"][..], &PLACES].concat();
    let rows = ground.attempt(&words)?;
    no_more_than(&ground.under_podman(&words)?, &rows)?;
    // What is masked and read-only stays so also for whoever is root in a namespace of its own.
    refused(&rows, &["nested.unmount."])?;
    for place in ["/proc/sys", "/sys"] {
        refused(&rows, &[&format!("nested.mount.writable.{place}")])?;
    }
    refused(&rows, &["nested.mount.new.proc", "nested.mount.new.sysfs"])?;
    works(&ground.on_host(&words)?, "nested.mount.new.tmpfs")
}

fn climb(ground: &Ground<'_>) -> Result<()> {
    let rows = ground.attempt(&["climb"])?;
    for row in ["climb.chroot", "climb.out", "climb.again"] {
        works(&rows, row)?;
    }
    let names = rows.get("climb.names").map_or("", String::as_str);
    // The image's own root, and not that of the host, which has much more.
    ensure!(names.contains("bin") && names.contains("proc"), "{rows:#?}");
    for name in ["usr", "home", "srv", "boot", "opt", "lib"] {
        ensure!(!names.split(' ').any(|found| found == name), "the host's {name}: {rows:#?}");
    }
    Ok(())
}

fn handles(ground: &Ground<'_>) -> Result<()> {
    let rows = ground.attempt(&["handles", "/etc"])?;
    refused(&rows, &["handle.open"])?;
    no_more_than(&ground.under_podman(&["handles", "/etc"])?, &rows)?;
    if ground.is_root() {
        works(&ground.on_host(&["handles", "/run"])?, "handle.open")?;
    }
    Ok(())
}

fn keys(ground: &Ground<'_>) -> Result<()> {
    let name = format!("flake-{}", ground.host.mark());
    let with_key = |program: &str, words: &[&str]| {
        let mut command = ground.way.user.command(ground.program()?);
        command.args(["try", "with-key", &name, "secret", program]).args(words);
        crate::way::lines(&Call::new(command).run()?)
    };
    let app = ground.plain()?.to_string_lossy().into_owned();
    let rows = with_key(&app, &["sh", "-c", "exec /bin/probe try key \"$0\"", &name])?;
    works(&rows, "key.added")?;
    ensure!(rows.get("key.session").is_some_and(|found| found.starts_with("errno ")), "{rows:#?}");
    ensure!(rows.iter().all(|(row, value)| !row.ends_with(".content") || value.is_empty()), "{rows:#?}");
    // A plain program of the caller's finds it.
    let probe = ground.program()?.to_string_lossy().into_owned();
    let rows = with_key(&probe, &["try", "key", &name])?;
    ensure!(rows.get("key.session.content").is_some_and(|content| content == "secret"), "{rows:#?}");
    Ok(())
}

fn settings(ground: &Ground<'_>) -> Result<()> {
    let script = "for file in /proc/sys/kernel/* /proc/sys/vm/* /proc/sys/net/ipv4/ip_forward /proc/sys/fs/binfmt_misc/* \
                  /sys/fs/cgroup/* /sys/fs/cgroup/*/* /sys/kernel/* /sys/power/* /sys/class/net/lo/* /sys/module/*/*; do \
                  [ -f $file ] && { echo -n >>$file; } 2>/dev/null && echo $file; done; \
                  busybox mkdir /sys/fs/cgroup/mine /sys/fs/cgroup/*/mine 2>/dev/null && echo made; \
                  echo 0 >/proc/self/attr/exec && echo attr; true";
    let outcome = ground.shell(script)?;
    ensure!(outcome.success() && outcome.out().is_empty(), "can be written to: {outcome}");
    ensure!(
        fs::OpenOptions::new().append(true).open("/proc/sys/kernel/hostname").is_ok(),
        "not by root either"
    );
    Ok(())
}

fn sockets(ground: &Ground<'_>) -> Result<()> {
    let name = format!("flake-{}", ground.host.mark());
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    let app = ground.way.flake(ground.host, &Tree::PLAIN, "escape-silent", &["--network", "none"])?;
    refused(&ground.way.attempt(&app, &["abstract", &name])?, &["abstract"])?;
    // With the host's network it is there, as for podman.
    works(&ground.attempt(&["abstract", &name])?, "abstract")
}

/// A setuid program of the image gives what it gives under podman: the capabilities of the bounding set.
fn rights(ground: &Ground<'_>) -> Result<()> {
    const OTHER: Tree = Tree { name: "other", changes: &["USER 1000:1000"], ..SETUID };
    let app = ground.way.flake(ground.host, &OTHER, "escape-setuid", &[])?;
    let script = "for program in probe setuid; do \
                  /bin/$program facts | busybox grep '^status.\\(Cap\\|Uid\\|Gid\\|NoNew\\)'; done";
    let own = ground.way.call(&app, &["sh", "-c", script])?;
    let image = OTHER.import(ground.host, ground.way.user)?;
    let fixed = ["run", "--rm", "--pull=never", "--network=host", &image, "/bin/busybox", "sh", "-c", script];
    let podmans = ground.host.podman(ground.way.user, fixed).run()?;
    ensure!(own.success() && own.out().contains("Uid=1000 0 0 0"), "no setuid program: {own}");
    ensure!(own.out() == podmans.out(), "under podman {podmans}\nhere {own}");
    Ok(())
}

const SETUID: Tree = Tree { name: "setuid", entries: &[("bin/setuid", Entry::Probe(0o4755))], ..Tree::PLAIN };
