//! Descriptors: those that the caller has open, and what an inherited one can be made to be.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Outcome, ROOT};

use super::{Case, Ground, refused, works};
use crate::{Tree, Way};

pub(super) const CASES: &[Case] = &[
    ("nothing_but_the_streams_is_open", leaked),
    ("no_working_directory_is_the_host_s", directories),
    ("a_file_is_not_opened_for_more", reopened),
];

/// The flake called from a shell that has folders and files of the host open.
fn with_descriptors(way: &Way, app: &Path, words: &[&str]) -> Result<Outcome> {
    let script = r#"cd /srv; for n in 5 6 7 8 9 10 11 12 13 14 15; do eval "exec $n</"; done; exec 16</etc/passwd
                    exec "$@""#;
    let mut command = way.user.command("/usr/bin/bash");
    command.args(["-c", script, "bash"]).arg(app).args(words);
    Ok(Call::new(command).run()?)
}

fn leaked(ground: &Ground<'_>) -> Result<()> {
    let list = ["sh", "-c", "for fd in /proc/$$/fd/*; do echo ${fd##*/}; done"];
    let found = with_descriptors(ground.way, &ground.plain()?, &list)?;
    let expected = Call::new({
        let mut command = ground.way.user.command("/bin/busybox");
        command.args(list);
        command
    })
    .run()?;
    ensure!(found == expected && found.out().lines().count() < 6, "on the host {expected}\nhere {found}");
    // They are there: the host's busybox has them.
    let hosts = with_descriptors(ground.way, Path::new("/bin/busybox"), &list)?;
    ensure!(hosts.out().contains("\n15\n"), "{hosts}");
    Ok(())
}

/// The class of CVE-2024-21626: a working directory by the number of a descriptor.
fn directories(ground: &Ground<'_>) -> Result<()> {
    const LINKED: Tree = Tree {
        name: "workdir",
        entries: &[("w", crate::Entry::Link("/proc/self/fd/8")), ("c", crate::Entry::Link("/proc/self/cwd"))],
        ..Tree::PLAIN
    };
    const IMAGES: Tree = Tree { name: "workdir-image", changes: &["WORKDIR /proc/self/fd/8"], ..LINKED };
    const IMAGES_LINK: Tree = Tree { name: "workdir-link", changes: &["WORKDIR /w"], ..LINKED };
    let asked =
        ["/proc/self/fd/8", "/w", "/c", "/proc/self/cwd", "/proc/1/cwd", "/proc/self/fd/3/..", "/w/../srv"];
    let by_option = asked.iter().map(|workdir| (&LINKED, Some(*workdir)));
    for (index, (tree, workdir)) in by_option.chain([(&IMAGES, None), (&IMAGES_LINK, None)]).enumerate() {
        let options: Vec<&str> = workdir.iter().flat_map(|workdir| ["--workdir", workdir]).collect();
        // A refusal at once is one.
        let Ok(app) = ground.way.register(ground.host, tree, &format!("escape-cwd{index}"), &options) else {
            continue;
        };
        for _ in 0..2 {
            let outcome = with_descriptors(
                ground.way,
                &app,
                &["sh", "-c", "ls; ls ..; ls ../..; cat srv/* etc/shadow"],
            )?;
            for name in ["srv", "home", "boot", "root:"] {
                let is_seen = outcome.out().split_whitespace().any(|word| word.starts_with(name));
                ensure!(!is_seen, "{workdir:?} {:?} shows the host: {outcome}", tree.changes);
            }
        }
    }
    Ok(())
}

fn reopened(ground: &Ground<'_>) -> Result<()> {
    let file = ground.folder()?.join("readable");
    fs::write(&file, "root's\n")?;
    let words = ["sh", "-c", "exec /bin/probe try reopen 0"];
    let call = |way: &Way, app: &Path| -> Result<_> {
        crate::way::lines(&Call::new(way.command(app, &words)).stdin(fs::File::open(&file)?).run()?)
    };
    // Root may do so anyway, and shows that it can be done.
    let rows = call(ground.way, &ground.plain()?)?;
    if ground.is_root() {
        return works(&rows, "reopen.write");
    }
    refused(&rows, &["reopen.write", "reopen.both"])?;
    // Somebody else's call that runs as root does not get it either.
    if ground.way.owner.id == 0 {
        let elevated = Way { name: "elevated", owner: &ROOT, user: &ADA };
        let options = ["--run-as", "root", "--network", "host"];
        let app = elevated.register(ground.host, &Tree::PLAIN, "escape", &options)?;
        let rows = call(&elevated, &app)?;
        ensure!(rows.get("reopen.link").is_some_and(|link| link.starts_with("pipe:")), "{rows:#?}");
        super::has(&file, "root's\n")?;
    }
    Ok(())
}
