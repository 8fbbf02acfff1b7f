//! What a registration says about how long its instances live.

use std::fs;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, ScratchHost};

use crate::Case;
use crate::told::{BOX, absent, line, refused, told};

pub(crate) const CASES: &[Case] = &[
    ("a_kept_flake_cannot_remove_itself", packaging),
    ("what_is_thrown_away_need_not_be_told_to_go", redundant),
    ("the_words_for_kept_flakes_are_written_down", written),
];

/// F-64, word for word.
const PACKAGING: &str = "Packaging error: Flake is mutable, but you ask to remove its instance on finish. \
                         Either define it immutable or do not explicitly remove it.";

fn packaging(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    let register = |options: &[&str]| {
        let words = BOX.iter().chain(&["--app", "/home/ada/pac-l", "--network=none"]).chain(options);
        host.flake_ctl(&ADA, words)
    };
    for kept in ["--mutable", "--resume", "--attach", "--instance=x"] {
        for option in ["\\--rm", "--rm", "--rm=true", "--rm=1"] {
            refused(register(&[kept, "--opt", option]), &format!("flake-ctl: {PACKAGING}\n"))?;
        }
        absent("/home/ada/pac-l")?;
        absent("/home/ada/.config/flakes/pac-l.yaml")?;
    }
    register(&["--mutable", "--opt=--rm=false"]).check()?;
    let layer = "/home/ada/.config/flakes/pac-l.d/1.yaml";
    fs::write(layer, "container: {runtime: {podman: [--rm]}}\n")?;
    let place = format!(
        "{layer}:1:32: {PACKAGING}\n  1 | container: {{runtime: {{podman: [--rm]}}}}\n    |                                ^^^^\n"
    );
    told(Call::new(ADA.command("/home/ada/pac-l")), 125, "", &format!("pac-l: {place}"))?;
    told(line(host, &ADA, "validate pac-l"), 1, "", &place)?;
    line(host, &ADA, "remove --force --app /home/ada/pac-l").check()?;
    Ok(())
}

fn redundant(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    for option in ["\\--rm", "--rm", "--rm=true", "--rm=1"] {
        let words = ["--app", "/home/ada/red-l", "--network=host", "--force", "--opt", option];
        host.flake_ctl(&ADA, BOX.iter().chain(&words)).check()?;
        let plan = line(host, &ADA, "plan red-l").check()?.out();
        ensure!(plan.starts_with("name: red-l\nway: runner\n"), "{option}: {plan}");
        let mut call = ADA.command("/home/ada/red-l");
        call.args(["echo", "hi"]);
        told(Call::new(call), 0, "hi\n", "")?;
    }
    // The same through the agent.
    let words = ["--app", "/home/ada/red-l", "--network=none", "--force", "--opt=--rm", "--opt=--privileged"];
    host.flake_ctl(&ADA, BOX.iter().chain(&words)).check()?;
    let mut call = ADA.command("/home/ada/red-l");
    call.args(["echo", "hi"]);
    told(Call::new(call), 0, "hi\n", "")?;
    line(host, &ADA, "remove --app /home/ada/red-l").check()?;
    Ok(())
}

fn written(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    for (options, kind, instance, runtime) in [
        (&["--mutable"][..], "mutable", None, None),
        (&["--resume"], "mutable", None, Some("resume: true")),
        (&["--attach"], "mutable", None, Some("attach: true")),
        (&["--mutable", "--instance", "a_b"], "mutable", Some("a_b"), None),
        (&["--instance", "a_b"], "mutable", Some("a_b"), None),
        (&[], "immutable", None, None),
    ] {
        let words =
            BOX.iter().chain(&["--app", "/home/ada/wri-l", "--network=none", "--force"]).chain(options);
        host.flake_ctl(&ADA, words).check()?;
        let file = fs::read_to_string("/home/ada/.config/flakes/wri-l.yaml")?;
        let has = |line: String| file.lines().any(|found| found.trim() == line);
        ensure!(file.starts_with(&format!("type: {kind}\n")), "{options:?}: {file}");
        ensure!(file.contains("\ninstance: ") == instance.is_some(), "{options:?}: {file}");
        ensure!(instance.is_none_or(|name| has(format!("instance: {name}"))), "{options:?}: {file}");
        ensure!(runtime.is_none_or(|line| has(line.to_owned())), "{options:?}: {file}");
    }
    let outcome =
        line(host, &ADA, "register --container localhost/box --app /home/ada/x --resume --attach").run()?;
    ensure!(
        outcome.code == Some(2) && outcome.err().contains("'--resume' cannot be used with '--attach'"),
        "{outcome}"
    );
    let words = BOX.iter().chain(&["--app", "/home/ada/wri-l", "--force", "--mutable", "--scratch=disk"]);
    refused(
        host.flake_ctl(&ADA, words),
        "flake-ctl: `scratch` is for what is thrown away, and this instance is kept (leave `scratch` out)\n",
    )?;
    line(host, &ADA, "remove --app /home/ada/wri-l").check()?;
    Ok(())
}
