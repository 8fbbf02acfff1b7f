//! Kept instances: listed, ended, removed, and what goes with a command.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use anyhow::{Result, ensure};
use flake_testkit::{ADA, BOB, Image, ROOT, ScratchHost, User};

use crate::Case;
use crate::kept::Made;
use crate::told::{absent, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("an_instance_goes_when_it_is_wanted", removed),
    ("what_podman_removed_is_forgotten", forgotten),
    ("words_that_mean_no_instance", unknown),
    ("a_command_does_not_go_while_instances_are_kept", with_command),
    ("shared_instances_go_with_the_last_command", shared),
    ("an_image_does_not_go_while_instances_are_kept", with_image),
    ("instances_of_others_are_roots_business", lent),
    ("an_instance_tells_what_it_said", logs),
    ("a_terminal_is_joined_where_there_is_one", attach),
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

fn with_command(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "com-i", &[])?;
    let made = ["com-i", "x"].map(|label| Made::own(&ADA, "com-i", label));
    made.iter().try_for_each(|one| one.start(host))?;
    line(host, &ADA, "stop com-i com-i@x").check()?;
    refused(
        line(host, &ADA, "remove --app /home/ada/bin/com-i"),
        "flake-ctl: instances are kept, and would go with it: com-i, com-i@x\n\
         hint: --force removes them too, with all that is in them\n",
    )?;
    ensure!(fs::exists("/home/ada/bin/com-i")? && made[0].state(host)? == "exited");
    silent(line(host, &ADA, "remove --app /home/ada/bin/com-i --force"))?;
    for one in &made {
        absent(one.note())?;
        ensure!(one.state(host)?.is_empty());
    }
    absent("/home/ada/bin/com-i")
}

fn shared(host: &ScratchHost) -> Result<()> {
    for name in ["sh1-i", "sh2-i"] {
        keeping(host, &ADA, name, &["--instance", "common"])?;
    }
    let made = ["common", "x"].map(|label| Made { group: "common", ..Made::own(&ADA, "sh1-i", label) });
    made.iter().try_for_each(|one| one.start(host))?;
    // Both have it, under their own names.
    silent(line(host, &ADA, "stop --time 1 sh2-i@x"))?;
    ensure!(made[1].state(host)? == "exited" && made[0].state(host)? == "running");
    silent(line(host, &ADA, "remove --app /home/ada/bin/sh1-i"))?;
    ensure!(made[0].state(host)? == "running");
    refused(
        line(host, &ADA, "remove --app /home/ada/bin/sh2-i"),
        "flake-ctl: instances are kept, and would go with it: sh1-i, sh1-i@x\n\
         hint: --force removes them too, with all that is in them\n",
    )?;
    silent(line(host, &ADA, "rm --yes sh2-i@x sh2-i"))?;
    silent(line(host, &ADA, "remove --app /home/ada/bin/sh2-i"))
}

fn with_image(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image { name: "kept-i", files: &[("/6", "")], ..Image::BOX })?;
    let words = "register --container localhost/kept-i --target /bin/busybox --app /home/ada/bin/img-i \
                 --mutable --network=none";
    line(host, &ADA, words).check()?;
    let made = Made::own(&ADA, "img-i", "img-i");
    made.start(host)?;
    refused(
        line(host, &ADA, "remove --container localhost/kept-i"),
        "flake-ctl: instances are kept, and would go with it: img-i\n\
         hint: --force removes them too, with all that is in them\n",
    )?;
    told(line(host, &ADA, "remove --container localhost/kept-i --force"), 0, "/home/ada/bin/img-i\n", "")?;
    ensure!(made.state(host)?.is_empty());
    absent(made.note())
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

fn logs(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "log-i", &[])?;
    Made::own(&ADA, "log-i", "log-i").start(host)?;
    told(line(host, &ADA, "logs log-i"), 0, "hello\n", "oops\n")?;
    let last = line(host, &ADA, "logs -n 1 log-i").check()?;
    ensure!(last.out().len() + last.err().len() == 5 + usize::from(last.out().starts_with('h')), "{last}");
    let following = flake_testkit::Conversation::new(line(host, &ADA, "logs --follow log-i").spawn()?);
    following.expect("hello")?;
    line(host, &ADA, "stop --time 1 log-i").check()?;
    ensure!(following.end()?.success());
    let following = flake_testkit::Conversation::new(line(host, &ADA, "logs -f log-i").spawn()?);
    following.expect("hello")?;
    ensure!(following.end()?.success());
    gone(host, &ADA, "log-i")
}

fn attach(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "bes-i", &[])?;
    keeping(host, &ADA, "att-i", &["--attach"])?;
    Made::own(&ADA, "bes-i", "x").start(host)?;
    Made::own(&ADA, "att-i", "x").start(host)?;
    refused(
        line(host, &ADA, "attach bes-i"),
        "flake-ctl: bes-i has no terminal to join, a call runs beside the others\nhint: /home/ada/bin/bes-i @x\n",
    )?;
    line(host, &ADA, "stop --time 1 att-i").check()?;
    refused(
        line(host, &ADA, "attach att-i@x"),
        "flake-ctl: att-i@x does not run\nhint: start it: /home/ada/bin/att-i @x\n",
    )?;
    gone(host, &ADA, "bes-i")?;
    gone(host, &ADA, "att-i")
}
