//! What it takes to launch a command that does nothing.

use anyhow::{Context as _, Result};
use flake_testkit::{ADA, AGENT_WAY, Image, ROOT, ScratchHost, Subject, User};

use crate::direct::time;
use crate::pairs::in_turn;
use crate::table::ratio;

/// Rounds of a launch.
pub(crate) const LAUNCHES: usize = 50;
/// The host's own.
pub(crate) const NATIVE: &str = "/bin/busybox";

/// Straight from the layers.
pub(crate) fn straight(host: &ScratchHost, rootful: &Subject) -> Result<()> {
    let launch = |subject: &Subject| time(subject.user, &subject.app, &["true"]);
    let pairs = in_turn(LAUNCHES, || launch(rootful), || time(&ROOT, NATIVE, &["true"]))?;
    ratio("launch, rootful / native", &pairs, 6.0);
    let image = host.image(&ROOT, &Image::BOX)?;
    let pairs = in_turn(LAUNCHES, || launch(rootful), || podman_run(&ROOT, &image))?;
    ratio("launch, rootful / podman run --rm", &pairs, 0.04);
    for (name, owner) in [("rootless", &ADA), ("system", &ROOT)] {
        let subject = Subject::register(host, name, (owner, &ADA), &[])?;
        let pairs = in_turn(LAUNCHES, || launch(&subject), || launch(rootful))?;
        ratio(&format!("launch, {name} / rootful"), &pairs, 3.0);
    }
    Ok(())
}

/// Through podman and the agent; gives the flake of root's.
pub(crate) fn through_the_agent(host: &ScratchHost) -> Result<Subject> {
    let mut rootful = None;
    for (name, owner, caller) in
        [("rootful-agent", &ROOT, &ROOT), ("rootless-agent", &ADA, &ADA), ("system-agent", &ROOT, &ADA)]
    {
        let subject = Subject::register(host, name, (owner, caller), AGENT_WAY)?;
        // The store of the caller has it under this name too.
        let image = host.image(caller, &Image::BOX)?;
        let pairs =
            in_turn(LAUNCHES, || time(caller, &subject.app, &["true"]), || podman_run(caller, &image))?;
        ratio(&format!("launch, {name} / podman run --rm"), &pairs, 1.3);
        rootful = rootful.or(Some(subject));
    }
    rootful.context("no flake")
}

fn podman_run(user: &User, image: &str) -> Result<std::time::Duration> {
    let words = ["run", "--rm", "--pull=never", "--network=host", image, "/bin/busybox", "true"];
    time(user, "/usr/bin/podman", &words)
}
