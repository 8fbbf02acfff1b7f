//! Readiness and liveness.

use crate::world::{World, having, launch, until};
use crate::{Case, Outcome};
use flake_core::guest::Guest;
use flake_core::probe::{ProbeError, await_ready, liveness};
use flake_schema::{Decides, ProbeAction, ProbeStep};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

pub(crate) const CASES: &[Case] = &[
    ("the_third_try_passes", the_third_try_passes),
    ("one_that_hangs_is_bounded", one_that_hangs_is_bounded),
    ("the_hint_does_not_wait_for_the_first_try", the_hint_does_not_wait_for_the_first_try),
    ("liveness_is_handed_over", liveness_is_handed_over),
];

fn probe(script: String, timeout: &str, deadline: &str) -> ProbeStep {
    let period = |text: &str| text.parse().expect("a length of time");
    ProbeStep {
        description: Some("the flag".into()),
        script,
        hint: Some("raise it".into()),
        timeout: period(timeout),
        interval: period("200ms"),
        decides: Decides::Ready(period(deadline)),
    }
}

fn go(guest: &mut dyn Guest, probe: ProbeStep) -> (Result<(), ProbeError>, Vec<(Duration, String)>) {
    let begun = Instant::now();
    let mut lines = Vec::new();
    let report = &mut |line: &str| lines.push((begun.elapsed(), line.to_owned()));
    let result = await_ready(guest, &[probe], &BTreeMap::new(), report);
    (result, lines)
}

fn the_third_try_passes(world: &World) -> Outcome {
    let launch = launch(Some(4242));
    let count = world.path("tries");
    let script = format!("echo x >>{0}; test $(wc -l <{0}) -ge 3", count.display());
    let (result, lines) = go(&mut world.guest(&launch), probe(script, "5s", "60s"));
    result?;
    assert_eq!(std::fs::read_to_string(&count)?, "x\nx\nx\n");
    let lines: Vec<_> = lines.into_iter().map(|(_, line)| line).collect();
    assert_eq!(lines, ["probes[0]: waiting for the flag (exit status 1)", "probes[0]: raise it"]);
    // As the application's user.
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&count)?), 4242);
    Ok(())
}

fn one_that_hangs_is_bounded(world: &World) -> Outcome {
    let launch = launch(None);
    let script = "echo I wait; sleep 97541".to_owned();
    let begun = Instant::now();
    let (result, _) = go(&mut world.guest(&launch), probe(script, "500ms", "2s"));
    let message = result.expect_err("a failure").to_string();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(
        message,
        "probes[0] (the flag) did not pass within 2s: not done within 500ms; its last lines:\n  I wait\n\
         hint: raise it"
    );
    until("no try is left", || having("97541") == 0);
    Ok(())
}

fn the_hint_does_not_wait_for_the_first_try(world: &World) -> Outcome {
    let launch = launch(None);
    let (result, lines) = go(&mut world.guest(&launch), probe("sleep 97542".to_owned(), "8s", "8s"));
    assert!(result.is_err());
    let told: Vec<_> = lines.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(told, ["probes[0]: waiting for the flag", "probes[0]: raise it"]);
    assert!(lines[0].0 < Duration::from_secs(7), "{:?}", lines[0].0);
    Ok(())
}

fn liveness_is_handed_over(world: &World) -> Outcome {
    let launch = launch(Some(4242));
    let mut guest = world.guest(&launch);
    let beat = world.path("beat");
    let alive = ProbeStep {
        decides: Decides::Alive(1, ProbeAction::Report),
        ..probe(format!("echo $KEY $PARAM_A >>{}; exit 1", beat.display()), "5s", "1s")
    };
    let params = [("A".to_owned(), "1".to_owned())].into();
    guest.watch(&liveness(&[alive], &params))?;
    let beats = || std::fs::read_to_string(&beat).unwrap_or_default();
    until("it beats twice", || beats().starts_with("value 1\nvalue 1\n"));
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&beat)?), 4242);
    guest.watch(&[])?;
    std::thread::sleep(Duration::from_millis(300));
    let before = beats();
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(beats(), before);
    Ok(())
}
