//! Containers that try to have a folder mounted, or one made, where it does not belong.

use crate::Case;
use crate::container::{Container, folder, host_mounts};
use anyhow::{Result, ensure};
use flake_testkit::{ADA, Image, ROOT, ScratchHost, User};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

pub(crate) const CASES: &[Case] = &[
    ("links of the image", links),
    ("links of a container that mounts what it likes", own_mounts),
    ("a parent that becomes a link, root", |host| race(host, &ROOT, &[])),
    ("a parent that becomes a link, a user", |host| race(host, &ADA, &[])),
    ("a parent that becomes a link, a user with the caller's ids", |host| {
        race(host, &ADA, &["--userns=keep-id"])
    }),
];

const LINKED: Image = Image {
    name: "linked",
    links: &[
        ("/l/root", "/proc/1/root"),
        ("/l/cwd", "/proc/self/cwd"),
        ("/l/up", "../.."),
        ("/l/etc", "/etc"),
        ("/l/nowhere", "/made"),
        ("/l/loop", "loop"),
        ("/l/here", "."),
    ],
    ..Image::BOX
};

fn names(folder: &str) -> Result<BTreeSet<String>> {
    Ok(fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect())
}

/// Nothing is followed, nothing made, nothing mounted.
fn refuses_links(container: &Container, folder: &Path, links: &[&str]) -> Result<()> {
    let look = || -> Result<_> {
        Ok((names("/")?, names("/etc")?, container.says("ls / /etc")?, container.mounts(Path::new("/"))?))
    };
    let (before, host) = (look()?, host_mounts(container.user)?);
    for link in links {
        for target in [(*link).to_owned(), format!("{link}/made"), format!("{link}/etc/made")] {
            let outcome = container.graft(folder, Path::new(&target))?;
            let expected = format!("{target} cannot be mounted in the container: {link} is a link inside\n");
            ensure!(!outcome.success() && outcome.err() == expected, "{target}: {outcome}");
        }
    }
    ensure!(look()? == before, "something was made or mounted");
    ensure!(host_mounts(container.user)? == host, "something was mounted on the host");
    Ok(())
}

fn links(host: &ScratchHost) -> Result<()> {
    // With the host's processes, what the first link leads to is the host's own root.
    for (user, options) in [
        (&ROOT, &[][..]),
        (&ROOT, &["--pid=host"]),
        (&ADA, &[]),
        (&ADA, &["--userns=keep-id"]),
        (&ADA, &["--pid=host"]),
    ] {
        let container = Container::start(host, user, &LINKED, options)?;
        let folder = folder(host, user)?;
        let links: Vec<_> = LINKED.links.iter().map(|(link, _)| *link).collect();
        refuses_links(&container, &folder, &links)?;
        container.end()?;
    }
    Ok(())
}

fn own_mounts(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA] {
        let container = Container::start(host, user, &Image::BOX, &["--privileged"])?;
        let folder = folder(host, user)?;
        container.says("mkdir /m && mount --bind /proc /m")?;
        refuses_links(&container, &folder, &["/m/self", "/m/1/root", "/m/1/cwd"])?;
        container.end()?;
    }
    Ok(())
}

/// Exchanges the parent of the target for links, without an end. What was mounted moves along.
const EXCHANGE: &str = "\
mkdir -p /r; cd /r; count=0; echo ready
while :; do
    count=$((count + 1))
    mkdir -p parent
    mv parent moved$count; ln -s /proc/1/root parent; rm parent
    mkdir -p parent; mv parent other$count; ln -s .. parent; rm parent
done
";
const ROUNDS: usize = 150;

fn race(host: &ScratchHost, user: &'static User, options: &[&str]) -> Result<()> {
    let container = Container::start(host, user, &Image::BOX, options)?;
    let folder = folder(host, user)?;
    let elsewhere = |container: &Container| -> Result<Vec<_>> {
        let mut mounts = container.mounts(Path::new("/"))?;
        mounts.retain(|(path, _)| !path.starts_with("/r"));
        Ok(mounts)
    };
    let (before, on_host, root) = (elsewhere(&container)?, host_mounts(user)?, names("/")?);
    let mut exchange = container.inside(EXCHANGE).spawn()?;
    container.says("until [ -d /r ]; do sleep 0.1; done")?;
    let mut mounted = 0;
    for _ in 0..ROUNDS {
        let outcome = container.graft(&folder, Path::new("/r/parent/child"))?;
        mounted += usize::from(outcome.success());
        let is_told =
            outcome.err().starts_with("/r/parent/child cannot be mounted in the container: /r/parent");
        ensure!(outcome.success() || is_told, "{outcome}");
    }
    ensure!(elsewhere(&container)? == before, "mounted somewhere else: {:?}", elsewhere(&container)?);
    container.says("[ ! -e /child ] && [ ! -e /r/child ]")?;
    ensure!(host_mounts(user)? == on_host, "something was mounted on the host");
    ensure!(names("/")? == root, "something was made on the host");
    ensure!(mounted > 0 && mounted < ROUNDS, "{mounted} of {ROUNDS}: no race");
    container.end()?;
    exchange.wait()?;
    ensure!(fs::read_to_string(folder.join("file"))? == "of the host\n", "the file is lost");
    ensure!(host.containers(user)?.is_empty(), "a container is left");
    Ok(())
}
