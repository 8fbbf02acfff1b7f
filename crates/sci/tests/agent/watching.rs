//! Scripts that the agent runs by itself.

use crate::Outcome;
use crate::client::{framed, shell};
use crate::world::{World, until};
use flake_wire::{
    Action, Closing, ENDED_TO_BE_REMOVED, ENDED_TO_RESTART, Liveness, NOTE_MAX, Reply, Request,
};
use std::time::Duration;

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("a_failure_is_told_to_the_next", a_failure_is_told_to_the_next),
    ("what_is_well_again_is_not_told", what_is_well_again_is_not_told),
    ("a_restart_ends_everything", a_restart_ends_everything),
    ("a_removal_has_its_own_status", a_removal_has_its_own_status),
    ("a_hanging_script_is_killed_and_blocks_nobody", a_hanging_script_is_killed_and_blocks_nobody),
    ("a_new_list_replaces_the_old", a_new_list_replaces_the_old),
    ("user_variables_and_missing_interpreters", user_variables_and_missing_interpreters),
    ("idle_means_asleep", idle_means_asleep),
];

fn liveness(script: &str, action: Action) -> Liveness {
    Liveness {
        description: "web".into(),
        script: script.as_bytes().to_vec(),
        env: Vec::new(),
        user: None,
        timeout_ms: 5000,
        interval_ms: 100,
        failures: 2,
        action,
    }
}

fn watch(world: &World, list: Vec<Liveness>) {
    let mut client = world.client();
    client.say(&Request::Watch(list));
    assert_eq!(client.next(), Some(Reply::Done));
    assert_eq!(client.next(), None);
}

/// What the caller of a command is told.
fn notes(world: &World) -> Vec<String> {
    let mut client = world.client();
    client.say(&Request::Exec(Box::new(shell("true"))));
    let mut notes = Vec::new();
    loop {
        match client.next() {
            Some(Reply::Note { text }) => notes.push(text),
            Some(Reply::Started { .. }) => {}
            Some(Reply::Exit(_)) => return notes,
            other => panic!("{other:?}"),
        }
    }
}

fn awaited(world: &World) -> Vec<String> {
    let found = std::cell::RefCell::new(Vec::new());
    until("a note", || {
        *found.borrow_mut() = notes(world);
        !found.borrow().is_empty()
    });
    found.into_inner()
}

fn a_failure_is_told_to_the_next(world: &World) -> Outcome {
    assert!(notes(world).is_empty());
    watch(
        world,
        vec![
            liveness("echo first; printf 'port\\033[31m closed\\n\\n' >&2; exit 3", Action::Report),
            liveness("true", Action::Report),
        ],
    );
    assert_eq!(
        awaited(world),
        ["liveness probe web failed 2 times in a row: exit status 3: port[31m closed"]
    );
    // Once is enough, until it has failed as often again.
    assert!(notes(world).is_empty());
    assert_eq!(awaited(world).len(), 1);

    watch(
        world,
        vec![Liveness {
            description: "ä".repeat(5000),
            failures: 0,
            ..liveness("yes | head -c 3000000", Action::Report)
        }],
    );
    std::thread::sleep(Duration::from_millis(300));
    assert!(notes(world).is_empty(), "writing much is no failure");
    watch(
        world,
        vec![Liveness { description: "ä".repeat(5000), failures: 0, ..liveness("kill $$", Action::Report) }],
    );
    assert!(awaited(world)[0].len() <= NOTE_MAX);
    Ok(())
}

fn what_is_well_again_is_not_told(world: &World) -> Outcome {
    let (bad, good) = (world.path("bad"), world.path("good"));
    std::fs::write(&bad, "")?;
    let script = format!("test -e {} && exit 1; touch {}", bad.display(), good.display());
    watch(world, vec![liveness(&script, Action::Report)]);
    std::thread::sleep(Duration::from_millis(600));
    std::fs::remove_file(bad)?;
    until("a good try", || good.exists());
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(notes(world), [""; 0]);
    Ok(())
}

fn a_restart_ends_everything(world: &World) -> Outcome {
    let mut plain = world.client();
    plain.start(shell("sleep 1000"));
    let mut careful = world.client();
    careful.start(framed("trap 'echo saved; exit 5' TERM; echo ready; while :; do sleep 0.05; done"));
    watch(world, vec![liveness("echo no answer; exit 1", Action::Restart)]);
    assert_eq!(plain.next(), Some(Reply::Exit(Closing::Killed(15))));
    let finished = careful.finish(b"");
    assert_eq!(
        (finished.closing, finished.written[&1].as_slice()),
        (Closing::Exited(5), &b"ready\nsaved\n"[..])
    );
    let reason = "liveness probe web failed 2 times in a row: exit status 1: no answer";
    assert_eq!(world.ended(), (i32::from(ENDED_TO_RESTART), reason.to_owned()));
    Ok(())
}

fn a_removal_has_its_own_status(world: &World) -> Outcome {
    let mut stubborn = world.client();
    stubborn.start(framed("trap '' TERM; echo ready; while :; do sleep 0.1; done"));
    watch(world, vec![Liveness { failures: 1, ..liveness("exit 1", Action::Remove) }]);
    // It is asked, and killed when it does not listen.
    assert_eq!(stubborn.finish(b"").closing, Closing::Killed(9));
    let (status, reason) = world.ended();
    assert_eq!(
        (status, reason.as_str()),
        (i32::from(ENDED_TO_BE_REMOVED), "liveness probe web failed: exit status 1")
    );
    Ok(())
}

fn a_hanging_script_is_killed_and_blocks_nobody(world: &World) -> Outcome {
    let hanging = liveness("trap '' TERM; sleep 86423 & sleep 86423; sleep 86423", Action::Report);
    watch(world, vec![Liveness { timeout_ms: 400, failures: 1, ..hanging }]);
    until("it hangs", || count("86423") > 0);
    let started = std::time::Instant::now();
    let mut client = world.client();
    client.start(shell("exit 6"));
    assert_eq!(client.next(), Some(Reply::Exit(Closing::Exited(6))));
    assert!(started.elapsed() < Duration::from_millis(350), "a call waited for a probe");
    assert_eq!(awaited(world), ["liveness probe web failed: no answer within 0.4 s"]);
    watch(world, Vec::new());
    until("nothing is left of it", || count("86423") == 0);
    Ok(())
}

fn count(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())).count()
}

fn a_new_list_replaces_the_old(world: &World) -> Outcome {
    watch(world, vec![liveness("exit 1", Action::Restart)]);
    watch(world, vec![liveness("exit 1", Action::Report)]);
    assert_eq!(awaited(world).len(), 1);
    watch(world, Vec::new());
    std::thread::sleep(Duration::from_millis(400));
    assert!(notes(world).is_empty());
    // More than there may be is no request at all.
    let mut client = world.client();
    client.say(&Request::Watch(vec![liveness("true", Action::Report); flake_wire::WATCHED_MAX + 1]));
    assert_eq!(client.next(), None);
    Ok(())
}

fn user_variables_and_missing_interpreters(world: &World) -> Outcome {
    let user = flake_wire::Ids { uid: 65534, gid: 65533, groups: vec![65532] };
    let seen = Liveness {
        env: vec![(b"PARAM_X".to_vec(), b"a b".to_vec())],
        user: Some(user),
        failures: 1,
        ..liveness("echo $(id -u) $(id -G) $PARAM_X $IMAGE; exit 1", Action::Report)
    };
    watch(world, vec![seen]);
    assert_eq!(awaited(world), ["liveness probe web failed: exit status 1: 65534 65533 65532 a b own"]);
    watch(world, vec![Liveness { failures: 1, ..liveness("#!/no/such\n", Action::Report) }]);
    assert_eq!(awaited(world), ["liveness probe web failed: the script's interpreter /no/such: not found"]);
    Ok(())
}

fn idle_means_asleep(world: &World) -> Outcome {
    let mut client = world.client();
    client.start(shell("true"));
    assert!(matches!(client.next(), Some(Reply::Exit(_))));
    // One that stays, and asks for nothing.
    let _idle = world.client();
    std::thread::sleep(Duration::from_millis(300));
    let wakes = || world.status("voluntary_ctxt_switches") + world.status("nonvoluntary_ctxt_switches");
    let before = wakes();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(wakes(), before, "it woke up with nothing to do");
    Ok(())
}
