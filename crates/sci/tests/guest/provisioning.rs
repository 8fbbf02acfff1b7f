//! Whole provisioning, as a flake file says it.

use crate::world::{World, launch, written};
use crate::{Case, Outcome};
use flake_core::guest::Guest;
use flake_core::provision::{Moment, ProvisionError, run};
use flake_schema::{Flake, load_flake};
use std::path::PathBuf;

pub(crate) const CASES: &[Case] = &[
    ("a_flakes_scripts_run_when_they_are_due", a_flakes_scripts_run_when_they_are_due),
    ("the_third_fails", the_third_fails),
];

/// In a world that nobody else keeps a record in.
pub(crate) const ALONE: &[Case] = &[("a_record_is_nothing_to_rely_on", a_record_is_nothing_to_rely_on)];

/// A flake with these further lines.
fn flake(world: &World, name: &str, lines: &str) -> Result<Flake, Box<dyn std::error::Error>> {
    let file = world.path(&format!("{name}.yaml"));
    let container = "container: {name: dev, target-app-path: /bin/sh, host-app-path: /usr/bin/dev}";
    std::fs::write(&file, format!("{container}\ntype: mutable\n{lines}"))?;
    Ok(load_flake(&file).map_err(|error| error.to_string())?.flake)
}

fn go(guest: &mut dyn Guest, flake: &Flake, moment: Moment) -> Result<Vec<String>, ProvisionError> {
    let mut lines = Vec::new();
    run(guest, &flake.provision, &flake.param, moment, &mut |line| lines.push(line.to_owned()))?;
    Ok(lines)
}

fn a_flakes_scripts_run_when_they_are_due(world: &World) -> Outcome {
    let launch = launch(Some(4242));
    let mut guest = world.guest(&launch);
    let log = world.path("due");
    let steps = |changing: &str| {
        format!(
            r##"
param: {{LOG: {log}, WORDS: "it's 100% \"# no comment\""}}
provision:
  - mode: user
    script: echo "user $(id -u)" >>$PARAM_LOG
  - script: |
      #!/bin/bash
      set -o pipefail
      touch $PARAM_LOG; chmod 666 $PARAM_LOG
      echo "once $PARAM_WORDS" | tee -a $PARAM_LOG
  - run: start
    script: echo start >>$PARAM_LOG
  - run: change
    script: |
      # {changing}
      echo change >>$PARAM_LOG
"##,
            log = log.display()
        )
    };
    let mut since = 0;
    let mut logged = || -> Result<Vec<String>, std::io::Error> {
        let text = std::fs::read_to_string(&log)?;
        let lines = text.lines().skip(since).map(str::to_owned).collect::<Vec<_>>();
        since += lines.len();
        Ok(lines)
    };
    let one = flake(world, "due", &steps("one"))?;
    let lines = go(&mut guest, &one, Moment::Made)?;
    let words = "once it's 100% \"# no comment\"";
    assert_eq!(lines, [format!("provision[1]: {words}")]);
    assert_eq!(logged()?, [words, "start", "change", "user 4242"]);
    assert_eq!(go(&mut guest, &one, Moment::Started)?, [""; 0]);
    assert_eq!(logged()?, ["start"]);
    go(&mut guest, &flake(world, "due", &steps("two"))?, Moment::Started)?;
    assert_eq!(logged()?, ["start", "change"]);
    Ok(())
}

fn the_third_fails(world: &World) -> Outcome {
    let launch = launch(None);
    let marker: PathBuf = world.path("fourth");
    let flake = flake(
        world,
        "third",
        &format!(
            r#"
provision:
  - script: echo one
  - script: echo two
  - script: |
      for n in $(seq 30); do echo line $n; done
      cp /no/such/file /tmp
      exit 3
  - script: touch {}
"#,
            marker.display()
        ),
    )?;
    let error = go(&mut world.guest(&launch), &flake, Moment::Made).expect_err("a failure");
    let message = error.to_string();
    assert!(error.half_made);
    assert!(
        message.starts_with("provision[2] (system) failed: exit status 3; its last lines:\n"),
        "{message}"
    );
    assert!(message.contains("\n  line 12\n") && !message.contains("line 11\n"), "{message}");
    assert!(message.lines().last().is_some_and(|line| line.contains("/no/such/file")), "{message}");
    assert!(!marker.exists());
    Ok(())
}

fn a_record_is_nothing_to_rely_on(world: &World) -> Outcome {
    let launch = launch(None);
    let mut guest = world.guest(&launch);
    let log = world.path("forged");
    let lines = format!("provision: [{{run: change, script: \"echo x >>{}\"}}]", log.display());
    let flake = flake(world, "forged", &lines)?;
    let record = "/var/lib/sci/provisioned";
    for forge in
        ["echo hello >", "head -c 5000000 /dev/zero >", "rm -f PATH; mkfifo", "rm -f PATH; ln -s /dev/zero"]
    {
        let forge = if forge.contains("PATH") { forge.replace("PATH", record) } else { forge.to_owned() };
        written(&mut guest, &format!("mkdir -p /var/lib/sci; {forge} {record}"))?;
        go(&mut guest, &flake, Moment::Started)?;
        go(&mut guest, &flake, Moment::Started)?;
        assert_eq!(std::fs::read_to_string(&log)?, "x\n", "{forge}");
        std::fs::remove_file(&log)?;
    }
    written(&mut guest, &format!("rm {record}; mkdir {record}"))?;
    let error = go(&mut guest, &flake, Moment::Started).expect_err("a failure");
    assert!(error.to_string().contains(record), "{error}");
    written(&mut guest, &format!("rmdir {record}"))?;
    Ok(())
}
