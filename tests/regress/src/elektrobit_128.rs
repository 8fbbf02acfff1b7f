//! Elektrobit/flake-pilot 128: a mistake in the registration is noticed only after something was done.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};
use std::fs;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ADA, ("faulty-128", &Image::BOX, "/bin/busybox"), &[])?;
    let path = ADA.home().join(".config/flakes/faulty-128.yaml");
    let good = fs::read_to_string(&path)?;
    let faults = [
        ("container:", "contaner:", "container"),
        ("container:", "colour: red\ncontainer:", "colour"),
        ("target_app_path: ", "target_app_path: [1, 2] #", "target_app_path"),
    ];
    for (from, to, named) in faults {
        ensure!(good.contains(from), "no {from} in {good}");
        fs::write(&path, good.replacen(from, to, 1))?;
        let mut command = ADA.command(&app);
        command.args(["echo", "word"]);
        let outcome = Call::new(command).run()?;
        ensure!(outcome.code == Some(125) && outcome.out().is_empty(), "{to}: {outcome}");
        ensure!(
            outcome.err().contains("faulty-128.yaml") && outcome.err().contains(named),
            "{to}: {outcome}"
        );
    }
    let filter = ["ps", "--all", "--quiet", "--filter", "label=flake.name=faulty-128"];
    let outcome = ground.host.podman(&ADA, filter).check()?;
    ensure!(outcome.out().is_empty(), "{outcome}");
    Ok(())
}
