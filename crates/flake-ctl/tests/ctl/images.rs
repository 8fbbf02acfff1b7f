//! Fetching and loading images: podman speaks, and its status counts.

use std::fs;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Image, ScratchHost};

use crate::Case;
use crate::told::{line, refused};

pub(crate) const CASES: &[Case] = &[("pull_ends_as_podman_does", pull), ("load_takes_the_newest", load)];

fn pull(host: &ScratchHost) -> Result<()> {
    let archive = archive(host, "pulled", &[("/1", "")])?;
    let uri = format!("oci-archive:{archive}");
    let outcome = host.flake_ctl(&ADA, ["podman", "pull", "--uri", &uri]).check()?;
    ensure!(outcome.out().len() == 65 && !outcome.err().is_empty(), "{outcome}");
    for uri in ["localhost:1/none", "not a reference", "oci-archive:/none.tar"] {
        let podman = host.podman(&ADA, ["pull", uri]).run()?;
        let ours = host.flake_ctl(&ADA, ["podman", "pull", "--uri", uri]).run()?;
        ensure!(podman.code == ours.code && podman.code != Some(0), "{podman}\n{ours}");
        let last = |text: &str| text.lines().last().map(str::to_owned);
        ensure!(last(&podman.err()) == last(&ours.err()), "{podman}\n{ours}");
    }
    Ok(())
}

fn load(host: &ScratchHost) -> Result<()> {
    let first = archive(host, "loaded-1", &[("/2", "")])?;
    archive(host, "loaded-2", &[("/3", "")])?;
    let outcome = host.flake_ctl(&ADA, ["podman", "load", "--oci", &first]).check()?;
    ensure!(outcome.out().contains("localhost/loaded-1:latest"), "{outcome}");
    let outcome = line(host, &ADA, "load --oci /home/ada/loaded-").check()?;
    ensure!(outcome.out().contains("localhost/loaded-2:latest"), "{outcome}");
    refused(
        line(host, &ADA, "load --oci /home/ada/none"),
        "flake-ctl: there is no file /home/ada/none, and none that begins so\n",
    )?;
    fs::write("/home/ada/garbage.tar", "garbage")?;
    let outcome = line(host, &ADA, "load --oci /home/ada/garbage.tar").run()?;
    ensure!(outcome.code == Some(125), "{outcome}");
    Ok(())
}

/// An archive of an image that is not in the store any more. Its layer is its own: podman loses one that comes while
/// another process removes it.
fn archive(host: &ScratchHost, name: &'static str, files: &'static [(&str, &str)]) -> Result<String> {
    let image = host.image(&ADA, &Image { name, files, ..Image::BOX })?;
    let file = format!("/home/ada/{name}.tar");
    host.podman(&ADA, ["save", "--quiet", "--format", "oci-archive", "--output", &file, &image]).check()?;
    host.podman(&ADA, ["rmi", &image]).check()?;
    Ok(file)
}
