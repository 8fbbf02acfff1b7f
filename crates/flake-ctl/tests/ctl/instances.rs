//! Kept instances: listed, ended, removed.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Result, ensure};
use flake_testkit::{ADA, BOB, Image, ROOT, ScratchHost, Subject, User, processes};
use nix::sys::signal::Signal;

use crate::Case;
use crate::kept::Made;
use crate::told::{absent, line, refused, silent};

pub(crate) const CASES: &[Case] = &[
    ("an_instance_goes_when_it_is_wanted", removed),
    ("a_person_is_asked_before_an_instance_goes", asked),
    ("an_instance_is_not_removed_while_it_is_made", waits),
    ("what_podman_removed_is_forgotten", forgotten),
    ("words_that_mean_no_instance", unknown),
    ("instances_of_others_are_roots_business", lent),
    ("labels_of_an_image_make_no_instance", feigned),
];

/// These see, or end, whatever a user has.
pub(crate) const ALONE: &[Case] =
    &[("kept_instances_are_listed", listed), ("an_instance_is_ended_and_stays", stopped)];

/// Registers a flake whose instances are kept.
pub(crate) fn keeping(host: &ScratchHost, owner: &User, name: &str, options: &[&str]) -> Result<()> {
    let options: Vec<_> = ["--mutable", "--network=none"].iter().chain(options).copied().collect();
    host.register(owner, (name, &Image::BOX, "/bin/busybox"), &options)?;
    Ok(())
}

/// Takes a flake away, with all that it has.
pub(crate) fn gone(host: &ScratchHost, owner: &User, name: &str) -> Result<()> {
    let bin = if owner.id == 0 { "/usr/local/bin".into() } else { owner.home().join("bin") };
    line(host, owner, &format!("remove --force --app {}/{name}", bin.display())).check()?;
    Ok(())
}

fn listed(host: &ScratchHost) -> Result<()> {
    keeping(host, &BOB, "lis-i", &[])?;
    let (plain, other) = (Made::own(&BOB, "lis-i", "lis-i"), Made::own(&BOB, "lis-i", "other"));
    plain.start(host)?;
    other.start(host)?;
    line(host, &BOB, "stop --time 1 lis-i@other").check()?;
    let note = File::options().write(true).open(plain.note())?;
    note.set_modified(SystemTime::now() - Duration::from_secs(7300))?;
    let in_use = File::open(other.note())?;
    in_use.lock_shared()?;
    let json = line(host, &BOB, "ps --format json").check()?;
    let rows: serde_json::Value = serde_json::from_slice(&json.stdout)?;
    ensure!(rows.as_array().map(Vec::len) == Some(2), "{json}");
    let expected = |row: usize, instance: &str, status: &str, in_use: bool| {
        let (id, created, used) = (&rows[row]["id"], &rows[row]["created"], &rows[row]["last_use"]);
        let expected = serde_json::json!({"name": "lis-i", "user": "bob", "id": id, "status": status,
            "image": "localhost/box:latest", "config": plain.config(), "instance": instance,
            "created": created, "last_use": used, "in_use": in_use});
        let is_time = |value: &serde_json::Value| {
            value
                .as_str()
                .is_some_and(|text| text.len() == 20 && text.starts_with("20") && text.ends_with('Z'))
        };
        ensure!(rows[row] == expected && is_time(created) && is_time(used), "{json}");
        Ok(())
    };
    expected(0, "lis-i", "running", false)?;
    expected(1, "lis-i@other", "stopped", true)?;
    let table = line(host, &BOB, "podman show").check()?.out();
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let heading = ["NAME", "USER", "ID", "STATUS", "IMAGE", "CONFIG", "INSTANCE", "CREATED", "LAST", "USE"];
    ensure!(lines.next().as_deref() == Some(&heading[..]), "{table}");
    ensure!(lines.next().is_some_and(|words| words.ends_with(&["2", "hours", "ago"])), "{table}");
    ensure!(lines.next().is_some_and(|words| words.last() == Some(&"now")), "{table}");
    let yaml = line(host, &BOB, "show --format yaml").check()?.out();
    ensure!(yaml.starts_with("- name: lis-i\n  user: bob\n") && yaml.contains("in_use: true"), "{yaml}");
    let csv = line(host, &BOB, "ps --format csv").check()?.out();
    ensure!(csv.lines().count() == 2 && csv.contains(",lis-i@other,20"), "{csv}");
    drop(in_use);
    gone(host, &BOB, "lis-i")
}

fn stopped(host: &ScratchHost) -> Result<()> {
    for (user, name) in [(&ROOT, "sto-i"), (&ADA, "sta-i")] {
        keeping(host, user, name, &[])?;
        let made = ["a", "b", "c"].map(|label| Made::own(user, name, label));
        made.iter().try_for_each(|one| one.start(host))?;
        silent(line(host, user, &format!("stop {name}@a {name}@b")))?;
        for (one, state) in made.iter().zip(["exited", "exited", "running"]) {
            ensure!(one.state(host)? == state, "{}: {}", one.label, one.state(host)?);
            ensure!(fs::exists(one.note())?);
        }
        silent(line(host, user, &format!("stop {name}@a")))?;
        silent(line(host, user, "stop --all"))?;
        ensure!(made[2].state(host)? == "exited");
        gone(host, user, name)?;
    }
    let outcome = line(host, &ADA, "stop").run()?;
    ensure!(outcome.code == Some(2) && outcome.err().contains("<APP[@NAME]|--all>"), "{outcome}");
    Ok(())
}

fn removed(host: &ScratchHost) -> Result<()> {
    for (user, name) in [(&ROOT, "rem-i"), (&ADA, "rea-i")] {
        keeping(host, user, name, &[])?;
        let made = [name, "x"].map(|label| Made::own(user, name, label));
        made.iter().try_for_each(|one| one.start(host))?;
        refused(
            line(host, user, &format!("rm {name} {name}@x")),
            &format!(
                "flake-ctl: what is in {name}, {name}@x would be gone, and nobody is here to be asked\n\
                 hint: --yes removes without a question\n"
            ),
        )?;
        let in_use = File::open(made[1].note())?;
        in_use.lock_shared()?;
        refused(
            line(host, user, &format!("rm --yes {name}@x")),
            &format!("flake-ctl: {name}@x is in use\nhint: --force ends what runs in it\n"),
        )?;
        ensure!(made[1].state(host)? == "running");
        silent(line(host, user, &format!("rm --force {name}@x")))?;
        drop(in_use);
        absent(made[1].note())?;
        ensure!(made[1].state(host)?.is_empty());
        silent(line(host, user, &format!("rm -y {name}")))?;
        absent(made[0].note())?;
        gone(host, user, name)?;
    }
    Ok(())
}

fn asked(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "ask-i", &[])?;
    let made = ["ask-i", "x"].map(|label| Made::own(&ADA, "ask-i", label));
    made.iter().try_for_each(|one| one.start(host))?;
    let subject = Subject::control(&ADA);
    for (answer, is_gone) in [("\n", false), ("no\n", false), ("y\n", true)] {
        let terminal = subject.terminal("flake-ctl rm ask-i@x ask-i")?;
        terminal.expect("remove ask-i@x, ask-i with all that is in it? [y/N] ")?;
        terminal.send(answer)?;
        ensure!(terminal.end()?.code == Some(i32::from(!is_gone)));
        ensure!(made[0].state(host)?.is_empty() == is_gone && fs::exists(made[1].note())? != is_gone);
    }
    gone(host, &ADA, "ask-i")
}

fn waits(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "wai-i", &[])?;
    let made = Made::own(&ADA, "wai-i", "wai-i");
    made.start(host)?;
    line(host, &ADA, "stop --time 1 wai-i").check()?;
    let making = File::open(made.lock())?;
    making.lock()?;
    let mut removing = line(host, &ADA, "rm --yes wai-i").spawn()?;
    let mut stopping = line(host, &ADA, "rm --yes wai-i").spawn()?;
    thread::sleep(Duration::from_secs(1));
    ensure!(removing.try_wait()?.is_none() && made.state(host)? == "exited");
    // A request to stop is heard meanwhile.
    processes::kill(stopping.id(), Signal::SIGTERM);
    ensure!(stopping.wait()?.signal() == Some(15));
    drop(making);
    ensure!(removing.wait()?.success() && made.state(host)?.is_empty());
    gone(host, &ADA, "wai-i")
}

fn forgotten(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "for-i", &[])?;
    let made = Made::own(&ADA, "for-i", "x");
    made.start(host)?;
    host.podman(&ADA, ["rm", "--force", "--time=0", &made.container()]).check()?;
    refused(
        line(host, &ADA, "logs for-i@x"),
        "flake-ctl: podman has no container of for-i@x any more\nhint: forget it: flake-ctl rm for-i@x\n",
    )?;
    silent(line(host, &ADA, "stop for-i@x"))?;
    silent(line(host, &ADA, "rm --yes for-i@x"))?;
    absent(made.note())?;
    // And the other way round: the flake is gone, and what it left is not.
    made.start(host)?;
    for path in ["bin/for-i", ".config/flakes/for-i.yaml"] {
        fs::remove_file(ADA.home().join(path))?;
    }
    fs::remove_dir(ADA.home().join(".config/flakes/for-i.d"))?;
    silent(line(host, &ADA, "rm --yes for-i"))?;
    ensure!(made.state(host)?.is_empty());
    refused(
        line(host, &ADA, "rm --yes for-i"),
        "flake-ctl: no flake is registered as for-i; see: flake-ctl list\n",
    )
}

fn unknown(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "unk-i", &[])?;
    host.register(&ADA, ("imm-i", &Image::BOX, "/bin/busybox"), &["--network=none"])?;
    let seen = "hint: flake-ctl ps shows those there are\n";
    refused(line(host, &ADA, "stop unk-i"), &format!("flake-ctl: unk-i has no instance\n{seen}"))?;
    refused(line(host, &ADA, "stop unk-i@a"), &format!("flake-ctl: there is no instance unk-i@a\n{seen}"))?;
    let made = ["a", "b"].map(|label| Made::own(&ADA, "unk-i", label));
    made.iter().try_for_each(|one| one.start(host))?;
    refused(
        line(host, &ADA, "logs unk-i"),
        "flake-ctl: unk-i has several instances: unk-i@a, unk-i@b\nhint: name one: flake-ctl logs unk-i@a\n",
    )?;
    refused(
        line(host, &ADA, "rm --yes unk-i@a unk-i@c"),
        "flake-ctl: there is no instance unk-i@c, only unk-i@a, unk-i@b\n",
    )?;
    ensure!(made[0].state(host)? == "running");
    for word in ["imm-i", "imm-i@x"] {
        refused(
            line(host, &ADA, &format!("stop {word}")),
            "flake-ctl: imm-i keeps no instances\n\
             hint: flake-ctl podman register --mutable makes a flake that does\n",
        )?;
    }
    refused(
        line(host, &ADA, "stop none-i@x"),
        "flake-ctl: no flake is registered as none-i; see: flake-ctl list\n",
    )?;
    refused(
        line(host, &ADA, "stop unk-i@a/b"),
        "flake-ctl: `a/b` is no name of an instance (1 to 64 of letters, digits, `@`, `=`, `_`, `-`)\n",
    )?;
    gone(host, &ADA, "imm-i")?;
    gone(host, &ADA, "unk-i")?;
    ensure!(made.iter().all(|one| one.state(host).is_ok_and(|state| state.is_empty())));
    Ok(())
}

fn lent(host: &ScratchHost) -> Result<()> {
    keeping(host, &ROOT, "len-i", &["--run-as", "root"])?;
    let made = |uid, label| Made { uid, ..Made::own(&ROOT, "len-i", label) };
    let (own, adas, bobs) = (made(0, "len-i"), made(ADA.id, "len-i"), made(BOB.id, "x"));
    [&own, &adas, &bobs].into_iter().try_for_each(|one| one.start(host))?;
    refused(
        line(host, &ADA, "stop len-i"),
        "flake-ctl: len-i runs as root, and root has its instances\n\
         hint: sudo flake-ctl stop --user ada len-i\n",
    )?;
    let outcome = line(host, &ADA, "stop --user bob len-i").run()?;
    ensure!(outcome.err().starts_with("flake-ctl: only root may act for bob\n"), "{outcome}");
    silent(line(host, &ROOT, "stop --user ada len-i"))?;
    ensure!(adas.state(host)? == "exited" && own.state(host)? == "running" && bobs.state(host)? == "running");
    let shown = line(host, &ROOT, "ps --format csv").check()?.out();
    let users: Vec<_> =
        shown.lines().filter_map(|line| line.strip_prefix("len-i,")?.split(',').next()).collect();
    ensure!(users.len() == 3 && ["root", "ada", "bob"].iter().all(|user| users.contains(user)), "{shown}");
    silent(line(host, &ROOT, "rm --yes --user ada len-i"))?;
    absent(adas.note())?;
    refused(
        line(host, &ROOT, "rm --yes --user ada len-i"),
        "flake-ctl: ada has no instances here\nhint: flake-ctl ps shows those there are\n",
    )?;
    refused(
        line(host, &ROOT, "remove --app /usr/local/bin/len-i"),
        "flake-ctl: instances are kept, and would go with it: len-i, len-i@x (bob)\n\
         hint: --force removes them too, with all that is in them\n",
    )?;
    gone(host, &ROOT, "len-i")?;
    ensure!(bobs.state(host)?.is_empty() && own.state(host)?.is_empty());
    Ok(())
}

fn feigned(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "fei-i", &[])?;
    let labels = ["name=fei-i", "user=4242", "group=fei-i", "instance=x"]
        .map(|label| format!("--label=flake.{label}"));
    let words =
        ["create", "--name=other-i", "--network=none"].into_iter().chain(labels.iter().map(String::as_str));
    host.podman(&ADA, words.chain(["localhost/box", "/bin/true"])).check()?;
    refused(
        line(host, &ADA, "rm --force fei-i@x"),
        "flake-ctl: there is no instance fei-i@x\nhint: flake-ctl ps shows those there are\n",
    )?;
    silent(line(host, &ADA, "remove --app /home/ada/bin/fei-i"))?;
    host.podman(&ADA, ["rm", "other-i"]).check()?;
    Ok(())
}
