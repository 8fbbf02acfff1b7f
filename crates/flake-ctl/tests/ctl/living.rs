//! Instances that calls have made, and the verbs about them.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use anyhow::{Result, ensure};
use flake_testkit::{ADA, BOB, Call, Conversation, ROOT, ScratchHost, Subject, User, processes, until};

use crate::Case;
use crate::instances::{gone, keeping};
use crate::kept::Made;
use crate::told::{absent, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("a_stopped_instance_is_started_with_its_data", stopped),
    ("an_instance_goes_with_its_data", removed),
    ("an_instance_in_use_is_not_removed", in_use),
    ("files_go_into_what_a_call_has_made", copied),
    ("a_terminal_that_runs_is_joined", joined),
    ("an_instance_in_roots_store_is_its_users", lent),
];

/// These say how many bob may have.
pub(crate) const ALONE: &[Case] =
    &[("one_too_many_is_refused", too_many), ("what_was_idle_for_long_goes_first", outdated)];

/// A call of a registered command with the words of a line.
fn call(user: &User, name: &str, words: &str) -> Call {
    let bin = if user.id == 0 { "/usr/local/bin".into() } else { user.home().join("bin") };
    let mut command = user.command(bin.join(name));
    command.args(words.split(' '));
    Call::new(command)
}

/// A call that nothing is said about.
fn calls(user: &User, name: &str, words: &str) -> Result<()> {
    told(call(user, name, words), 0, "", "")
}

fn stopped(host: &ScratchHost) -> Result<()> {
    for (user, name) in [(&ROOT, "sdr-v"), (&ADA, "sda-v")] {
        keeping(host, user, name, &[])?;
        let made = Made::own(user, name, name);
        calls(user, name, "touch /data")?;
        ensure!(made.state(host)? == "running");
        silent(line(host, user, &format!("stop {name}")))?;
        ensure!(made.state(host)? == "exited");
        let shown = line(host, user, "ps --format csv").check()?.out();
        let row = shown.lines().find(|row| row.starts_with(name)).unwrap_or_default().to_owned();
        ensure!(
            row.contains(&format!(",stopped,localhost/box:latest,{},{name},20", made.config())),
            "{shown}"
        );
        told(call(user, name, "ls /data"), 0, "/data\n", "")?;
        ensure!(made.state(host)? == "running");
        gone(host, user, name)?;
    }
    Ok(())
}

fn removed(host: &ScratchHost) -> Result<()> {
    for (user, name) in [(&ROOT, "rdr-v"), (&ADA, "rda-v")] {
        keeping(host, user, name, &[])?;
        let made = Made::own(user, name, "x");
        calls(user, name, "@x touch /data")?;
        silent(line(host, user, &format!("rm --yes {name}@x")))?;
        ensure!(made.state(host)?.is_empty());
        absent(made.note())?;
        ensure!(call(user, name, "@x test -e /data").run()?.code == Some(1), "the data is still there");
        gone(host, user, name)?;
    }
    Ok(())
}

fn in_use(host: &ScratchHost) -> Result<()> {
    for (user, name) in [(&ROOT, "iur-v"), (&ADA, "iua-v")] {
        keeping(host, user, name, &[])?;
        let mark = host.mark();
        let running = Conversation::new(call(user, name, &format!("sleep {mark}")).spawn()?);
        // The launcher has the mark on its own line too.
        let runs = || {
            let shown = line(host, user, "ps").run().ok()?.out();
            shown.lines().any(|row| row.starts_with(name) && row.ends_with("  now")).then_some(())
        };
        until("the call", runs, String::new)?;
        until("the application", || (processes::marked(&mark).len() > 1).then_some(()), String::new)?;
        refused(
            line(host, user, &format!("rm --yes {name}")),
            &format!("flake-ctl: {name} is in use\nhint: --force ends what runs in it\n"),
        )?;
        silent(line(host, user, &format!("rm --force {name}")))?;
        let ended = running.end()?;
        ensure!(!ended.success(), "{ended}");
        processes::until_gone(&mark)?;
        gone(host, user, name)?;
    }
    Ok(())
}

fn copied(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "coa-v", &["--as-caller"])?;
    calls(&ADA, "coa-v", "touch /tmp/made")?;
    fs::write("/home/ada/given-v", "x")?;
    silent(line(host, &ADA, "cp given-v coa-v:/tmp/"))?;
    told(call(&ADA, "coa-v", "stat -c %u:%g /tmp/given-v /tmp/made"), 0, "4242:4242\n4242:4242\n", "")?;
    calls(&ADA, "coa-v", "cp /tmp/made /tmp/given-v")?;
    silent(line(host, &ADA, "cp coa-v:/tmp/given-v taken-v"))?;
    ensure!(File::open("/home/ada/taken-v")?.metadata()?.uid() == ADA.id);
    gone(host, &ADA, "coa-v")
}

fn too_many(host: &ScratchHost) -> Result<()> {
    keeping(host, &BOB, "tom-v", &[])?;
    fs::write("/home/bob/.config/flakes.yml", "instances-per-user: 2\n")?;
    calls(&BOB, "tom-v", "@a true")?;
    calls(&BOB, "tom-v", "@b true")?;
    let outcome = call(&BOB, "tom-v", "@c true").run()?;
    let said = outcome.err();
    ensure!(outcome.code == Some(125), "{outcome}");
    ensure!(said.contains("2 instances are kept, and instances-per-user allows 2"), "{said}");
    ensure!(said.ends_with("\nhint: flake-ctl rm tom-v@a\n"), "{said}");
    // Those that are there go on.
    calls(&BOB, "tom-v", "@b true")?;
    silent(line(host, &BOB, "rm --yes tom-v@a"))?;
    calls(&BOB, "tom-v", "@c true")?;
    fs::remove_file("/home/bob/.config/flakes.yml")?;
    gone(host, &BOB, "tom-v")
}

fn outdated(host: &ScratchHost) -> Result<()> {
    keeping(host, &BOB, "out-v", &[])?;
    fs::write("/home/bob/.config/flakes.yml", "instances-per-user: 3\ninstances-timeout: 60 d\n")?;
    let made = ["a", "b"].map(|label| Made::own(&BOB, "out-v", label));
    for (one, days) in made.iter().zip([61, 59]) {
        calls(&BOB, "out-v", &format!("@{} true", one.label))?;
        let note = File::options().write(true).open(one.note())?;
        note.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400))?;
    }
    call(&BOB, "out-v", "@c true").check()?;
    ensure!(made[0].state(host)?.is_empty() && made[1].state(host)? == "running");
    absent(made[0].note())?;
    fs::remove_file("/home/bob/.config/flakes.yml")?;
    gone(host, &BOB, "out-v")
}

fn joined(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "joi-v", &["--attach"])?;
    let subject = Subject::control(&ADA);
    let first = subject.terminal("~/bin/joi-v sh -i")?;
    first.send("echo one-$((1+1))\n")?;
    first.expect("one-2")?;
    let second = subject.terminal("flake-ctl attach joi-v")?;
    second.send("echo two-$((1+1))\n")?;
    second.expect("two-2")?;
    first.expect("two-2")?;
    second.send("exit\n")?;
    second.end()?;
    first.end()?;
    gone(host, &ADA, "joi-v")
}

fn lent(host: &ScratchHost) -> Result<()> {
    keeping(host, &ROOT, "len-v", &["--run-as", "root"])?;
    let call = |words: &[&str]| {
        let mut command = ADA.command("/usr/local/bin/len-v");
        command.args(words);
        Call::new(command)
    };
    silent(call(&["touch", "/data"]))?;
    let made = Made { uid: ADA.id, ..Made::own(&ROOT, "len-v", "len-v") };
    let shown = line(host, &ROOT, "ps --format csv").check()?.out();
    ensure!(made.state(host)? == "running", "{shown}");
    silent(line(host, &ROOT, "stop --user ada len-v"))?;
    ensure!(made.state(host)? == "exited");
    told(call(&["ls", "/data"]), 0, "/data\n", "")?;
    gone(host, &ROOT, "len-v")?;
    ensure!(made.state(host)?.is_empty());
    Ok(())
}
