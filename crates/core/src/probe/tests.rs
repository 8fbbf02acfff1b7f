//! Tries, deadlines, hints.

use super::*;
use crate::guest::scripted::Scripted;
use flake_schema::{Period, ProbeAction};

fn period(text: &str) -> Period {
    text.parse().unwrap()
}

fn probe(script: &str, interval: &str, deadline: &str) -> ProbeStep {
    ProbeStep {
        description: Some("the database".into()),
        script: script.into(),
        hint: Some("see /var/log/db\nor ask".into()),
        timeout: period("30s"),
        interval: period(interval),
        decides: Decides::Ready(period(deadline)),
    }
}

fn go(guest: &mut Scripted, probes: &[ProbeStep]) -> (Result<(), ProbeError>, Vec<String>) {
    let mut lines = Vec::new();
    let result = await_ready(guest, probes, &BTreeMap::new(), &mut |line| lines.push(line.to_owned()));
    (result, lines)
}

#[test]
fn what_passes_at_once_says_nothing() {
    let alive = ProbeStep { decides: Decides::Alive(1, ProbeAction::Report), ..probe("c", "1ms", "1s") };
    let mut guest = Scripted::with(&["a", "b"]);
    let (result, lines) = go(&mut guest, &[probe("a", "1ms", "1s"), alive, probe("b", "1ms", "1s")]);
    result.unwrap();
    assert!(lines.is_empty(), "{lines:?}");
    assert!(guest.ran.iter().all(|(_, mode)| *mode == ProvisionMode::User));
}

#[test]
fn the_hint_comes_once_with_the_first_failure() {
    let mut guest = Scripted::with(&["a"]);
    for end in [ScriptEnd::Exited(1), ScriptEnd::NotRun("no such interpreter".into())] {
        guest.then("b", &[b"refused\n"], end);
    }
    guest.expect(&["b"]);
    let (result, lines) = go(&mut guest, &[probe("a", "1ms", "1h"), probe("b", "1ms", "1h")]);
    result.unwrap();
    assert_eq!(
        lines,
        [
            "probes[1]: waiting for the database (exit status 1)",
            "probes[1]: see /var/log/db",
            "probes[1]: or ask"
        ]
    );
}

#[test]
fn the_deadline_ends_it() {
    let mut guest = Scripted::default();
    // An interval over the deadline leaves time for a last try.
    guest.then("a", &[b"first\n"], ScriptEnd::Exited(7));
    guest.then("a", &[b"last\n"], ScriptEnd::Exited(8));
    let (result, _) = go(&mut guest, &[probe("a", "1h", "20ms")]);
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "probes[0] (the database) did not pass within 20ms: exit status 8; its last lines:\n  last\n\
         hint: see /var/log/db\nor ask"
    );
}

#[test]
fn a_last_try_that_was_cut_short_is_not_what_is_told() {
    let mut guest = Scripted::default();
    guest.then("a", &[b"refused\n"], ScriptEnd::Exited(7));
    guest.then("a", &[], ScriptEnd::TimedOut(Duration::from_millis(10)));
    let (result, _) = go(&mut guest, &[probe("a", "1h", "20ms")]);
    let message = result.unwrap_err().to_string();
    assert!(message.contains("exit status 7") && message.contains("refused"), "{message}");
}

#[test]
fn an_instance_that_is_gone_is_not_waited_for() {
    let mut guest = Scripted::default();
    guest.expected.push_back(("a", Vec::new(), Err(GuestError::Gone)));
    let (result, _) = go(&mut guest, &[probe("a", "1ms", "1h")]);
    assert_eq!(
        result.unwrap_err().to_string(),
        "probes[0] (the database) cannot be tried: the instance went away"
    );
}

#[test]
fn liveness_is_for_the_agent() {
    let alive = |description: Option<&str>| ProbeStep {
        description: description.map(str::to_owned),
        decides: Decides::Alive(2, ProbeAction::Restart),
        ..probe("c", "5s", "1s")
    };
    let params = [("A".to_owned(), "1".to_owned())].into();
    let checks = liveness(&[probe("a", "1s", "1s"), alive(None), alive(Some("the web"))], &params);
    let descriptions: Vec<_> = checks.iter().map(|check| check.description.as_str()).collect();
    assert_eq!(descriptions, ["probes[1]", "the web (probes[2])"]);
    assert_eq!((checks[0].failures, checks[0].action), (2, ProbeAction::Restart));
    assert_eq!((checks[0].timeout, checks[0].interval), (Duration::from_secs(30), Duration::from_secs(5)));
    assert_eq!(checks[0].env, [("PARAM_A".to_owned(), "1".to_owned())]);
}
