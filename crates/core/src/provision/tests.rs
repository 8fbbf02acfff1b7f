//! Order, moments, the record and failures.

use super::*;
use crate::guest::scripted::Scripted;
use flake_schema::ProvisionMode::{System, User};
use flake_schema::ProvisionRun::{Change, Once, Start};

fn step(mode: ProvisionMode, run: ProvisionRun, script: &str) -> ProvisionStep {
    ProvisionStep { mode, script: script.to_owned(), run, timeout: None }
}

fn go(guest: &mut Scripted, steps: &[ProvisionStep], moment: Moment) -> Result<Vec<String>, ProvisionError> {
    let mut lines = Vec::new();
    run(guest, steps, &BTreeMap::new(), moment, &mut |line| lines.push(line.to_owned())).map(|()| lines)
}

fn changes(texts: &[&str]) -> Vec<ProvisionStep> {
    texts.iter().map(|text| step(System, Change, text)).collect()
}

#[test]
fn root_first_and_then_the_user_each_in_order() {
    let steps = [
        step(User, Once, "a"),
        step(System, Start, "b"),
        step(System, Once, "c"),
        step(User, Change, "d"),
        step(System, Change, "e"),
    ];
    let mut guest = Scripted::with(&["b", "c", "e", "a", "d"]);
    go(&mut guest, &steps, Moment::Made).unwrap();
    assert_eq!(
        guest.ran.iter().map(|(_, mode)| *mode).collect::<Vec<_>>(),
        [System, System, System, User, User]
    );
    guest.expect(&["b"]);
    go(&mut guest, &steps, Moment::Started).unwrap();
}

#[test]
fn params_are_variables() {
    let params = [("WHO".to_owned(), "a b=c".to_owned())].into();
    let mut guest = Scripted::with(&["a"]);
    run(&mut guest, &[step(System, Once, "a")], &params, Moment::Made, &mut |_| {}).unwrap();
    assert_eq!(guest.env, [("PARAM_WHO".to_owned(), "a b=c".to_owned())]);
}

#[test]
fn output_comes_by_lines_with_the_scripts_place() {
    let mut guest = Scripted::with(&["a"]);
    guest.then("b", &[b"on", b"e\ntwo"], ScriptEnd::Exited(0));
    let lines = go(&mut guest, &[step(System, Once, "a"), step(User, Once, "b")], Moment::Made).unwrap();
    assert_eq!(lines, ["provision[1]: one", "provision[1]: two"]);
}

#[test]
fn the_first_failure_ends_it_with_its_last_words() {
    let steps = [step(System, Once, "a"), step(System, Once, "b"), step(System, Once, "c")];
    let mut guest = Scripted::with(&["a"]);
    guest.then("b", &[b"cp: cannot stat 'x'\n"], ScriptEnd::Exited(3));
    let error = go(&mut guest, &steps, Moment::Made).unwrap_err();
    assert!(error.half_made && error.signal().is_none());
    assert_eq!(
        error.to_string(),
        "provision[1] (system) failed: exit status 3; its last lines:\n  cp: cannot stat 'x'"
    );
}

#[test]
fn an_instance_is_half_made_while_a_script_of_its_making_lacks() {
    let failing = |text: &'static str, before: &[&'static str], steps: &[ProvisionStep], moment| {
        let mut guest = Scripted::with(before);
        guest.then(text, &[], ScriptEnd::Killed(9));
        go(&mut guest, steps, moment).unwrap_err().half_made
    };
    let both = [step(System, Start, "start"), step(System, Once, "once")];
    assert!(failing("start", &[], &both, Moment::Made));
    assert!(failing("once", &["start"], &both, Moment::Made));
    assert!(!failing("start", &[], &both, Moment::Started));
    let late = [step(System, Once, "once"), step(User, Start, "start")];
    assert!(!failing("start", &["once"], &late, Moment::Made));
}

#[test]
fn what_stops_this_process_stops_the_scripts() {
    let mut guest = Scripted::default();
    guest.expected.push_back(("a", Vec::new(), Err(GuestError::Interrupted(2))));
    let error = go(&mut guest, &[step(User, Once, "a")], Moment::Made).unwrap_err();
    assert_eq!(
        (error.signal(), error.to_string().as_str()),
        (Some(2), "provision[0] (user): interrupted by signal 2")
    );
    guest.expected.push_back(("a", vec![b"last\n"], Err(GuestError::Gone)));
    let error = go(&mut guest, &[step(User, Once, "a")], Moment::Made).unwrap_err();
    assert!(
        error.to_string().ends_with("failed: the instance went away; its last lines:\n  last"),
        "{error}"
    );
}

#[test]
fn only_what_changed_runs_again() {
    let mut guest = Scripted::with(&["a", "b"]);
    go(&mut guest, &changes(&["a", "b"]), Moment::Made).unwrap();
    go(&mut guest, &changes(&["a", "b"]), Moment::Started).unwrap();
    // Another order is no change.
    go(&mut guest, &changes(&["b", "a"]), Moment::Started).unwrap();
    guest.expect(&["c"]);
    go(&mut guest, &changes(&["b", "c"]), Moment::Started).unwrap();
    // What was replaced comes back.
    guest.expect(&["a"]);
    go(&mut guest, &changes(&["a", "b"]), Moment::Started).unwrap();
    // The same text for another user, or with other variables, is another script.
    guest.expect(&["b"]);
    go(&mut guest, &[step(System, Change, "a"), step(User, Change, "b")], Moment::Started).unwrap();
    guest.expect(&["a"]);
    let params = [("A".to_owned(), "1".to_owned())].into();
    run(&mut guest, &changes(&["a"]), &params, Moment::Started, &mut |_| {}).unwrap();
}

#[test]
fn a_change_that_failed_is_a_change_until_it_succeeds() {
    let mut guest = Scripted::with(&["a"]);
    go(&mut guest, &changes(&["a"]), Moment::Made).unwrap();
    for _ in 0..2 {
        guest.then("b", &[], ScriptEnd::Exited(1));
        assert!(!go(&mut guest, &changes(&["b"]), Moment::Started).unwrap_err().half_made);
    }
    // It may have done half its work; the one before it is not what ran last.
    guest.expect(&["a"]);
    go(&mut guest, &changes(&["a"]), Moment::Started).unwrap();
}

#[test]
fn a_record_that_the_image_brings_does_not_count() {
    let mut guest = Scripted::with(&["a"]);
    go(&mut guest, &changes(&["a"]), Moment::Made).unwrap();
    guest.expect(&["a"]);
    go(&mut guest, &changes(&["a"]), Moment::Made).unwrap();
}

#[test]
fn what_is_no_record_is_none() {
    for content in [Vec::new(), b"provisioned 1\nx\n".to_vec(), vec![b'\n'; record::MOST + 1]] {
        let mut guest = Scripted::with(&["a"]);
        guest.files.insert(record::PATH.to_owned(), content);
        go(&mut guest, &changes(&["a"]), Moment::Started).unwrap();
        go(&mut guest, &changes(&["a"]), Moment::Started).unwrap();
    }
}

#[test]
fn the_record_is_there_only_for_those_that_need_it() {
    let mut guest = Scripted::with(&["a", "b"]);
    guest.is_full = true;
    go(&mut guest, &[step(System, Once, "a"), step(System, Start, "b")], Moment::Made).unwrap();
    assert!(guest.files.is_empty());
    let error = go(&mut guest, &changes(&["a"]), Moment::Made).unwrap_err();
    assert_eq!(error.to_string(), "cannot note which provisioning scripts ran: no space left on device");
}
