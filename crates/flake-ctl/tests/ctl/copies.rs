//! Files into and out of a kept instance.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Outcome, ROOT, ScratchHost, User};

use crate::Case;
use crate::instances::{gone, keeping};
use crate::kept::Made;
use crate::told::{line, refused, silent};

pub(crate) const CASES: &[Case] = &[
    ("files_go_in_and_out", both_ways),
    ("what_goes_in_belongs_to_the_application", owners),
    ("a_folder_goes_where_it_is_wanted", folders),
    ("an_archive_goes_through_a_pipe", archives),
    ("what_cannot_be_copied_is_said", refusals),
];

/// What podman makes a container with for an application that is its caller.
const AS_CALLER: &[&str] = &["--userns=keep-id", "--user=0:0"];

/// A shell line in a user's home.
fn shell(user: &User, script: &str) -> Result<Outcome> {
    let mut command = user.command("/bin/sh");
    command.args(["-ec", script]);
    Ok(Call::new(command).check()?)
}

/// A shell line inside, as the container's root.
fn inside(host: &ScratchHost, made: &Made<'_>, script: &str) -> Result<String> {
    let name = made.container();
    Ok(host.podman(made.owner, ["exec", "--user=0", &name, "/bin/sh", "-ec", script]).check()?.out())
}

fn both_ways(host: &ScratchHost) -> Result<()> {
    for (user, name) in [(&ROOT, "cpr-i"), (&ADA, "cpa-i")] {
        keeping(host, user, name, &[])?;
        let made = Made::own(user, name, "x");
        made.start(host)?;
        shell(user, "printf 'a\\0b' >'in:1'; chmod 640 in:1; rm -f out")?;
        silent(host.flake_ctl(user, ["cp", "./in:1", &format!("{name}:/tmp/b c")]))?;
        ensure!(inside(host, &made, "stat -c '%u %g %a %s' '/tmp/b c'")? == "0 0 640 3\n");
        inside(host, &made, "chown 77:78 '/tmp/b c'")?;
        // It need not run.
        line(host, user, &format!("stop --time 1 {name}@x")).check()?;
        silent(host.flake_ctl(user, ["cp", &format!("{name}@x:/tmp/b c"), "out"]))?;
        let out = user.home().join("out");
        ensure!(fs::read(&out)? == b"a\0b" && out.metadata()?.uid() == user.id, "{:?}", out.metadata());
        silent(host.flake_ctl(user, ["cp", "out", &format!("{name}@x:/tmp")]))?;
        silent(host.flake_ctl(user, ["cp", &format!("{name}:/tmp/out"), "out2"]))?;
        ensure!(fs::read(user.home().join("out2"))? == b"a\0b");
        gone(host, user, name)?;
    }
    Ok(())
}

fn owners(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "own-i", &["--as-caller"])?;
    let made = Made { options: AS_CALLER, ..Made::own(&ADA, "own-i", "own-i") };
    made.start(host)?;
    shell(
        &ADA,
        "mkdir -p own/sub; echo x >own/sub/file; ln -s sub own/link; echo y >single; chmod 600 single",
    )?;
    silent(line(host, &ADA, "cp own own-i:/tmp"))?;
    silent(line(host, &ADA, "cp single own-i:/tmp/named"))?;
    let tar = shell(&ADA, "tar --owner=77 --group=78 -c single")?.stdout;
    silent(line(host, &ADA, "cp - own-i:/root").input(tar))?;
    let paths = "/tmp/own /tmp/own/sub /tmp/own/sub/file /tmp/own/link /tmp/named /root/single";
    let found = inside(host, &made, &format!("stat -c '%u %g %n' {paths}"))?;
    let expected: String = paths.split(' ').map(|path| format!("4242 4242 {path}\n")).collect();
    ensure!(found == expected, "{found}");
    ensure!(inside(host, &made, "stat -c %a /tmp/named; cat /tmp/own/link/file")? == "600\nx\n");
    gone(host, &ADA, "own-i")?;

    // Root's own instance, and one that somebody has in root's store.
    keeping(host, &ROOT, "owr-i", &["--run-as=root", "--as-caller"])?;
    for uid in [0, ADA.id] {
        let made = Made { uid, ..Made::own(&ROOT, "owr-i", "owr-i") };
        made.start(host)?;
        fs::write("/root/given", "x")?;
        let whose = if uid == 0 { "root" } else { "ada" };
        silent(line(host, &ROOT, &format!("cp --user {whose} given owr-i:/tmp/")))?;
        ensure!(inside(host, &made, "stat -c '%u %g' /tmp/given")? == format!("{uid} {uid}\n"));
    }
    gone(host, &ROOT, "owr-i")
}

fn folders(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "fol-i", &[])?;
    keeping(host, &ADA, "foc-i", &["--as-caller"])?;
    shell(&ADA, "mkdir -p tree/e; echo x >tree/e/f; echo y >tree/g")?;
    for (name, options) in [("fol-i", &[][..]), ("foc-i", AS_CALLER)] {
        let made = Made { options, ..Made::own(&ADA, name, name) };
        made.start(host)?;
        for (from, to, found) in [
            ("tree", "/tmp", "/tmp/tree/e/f"),
            ("tree", "/tmp/new", "/tmp/new/e/f"),
            ("tree/.", "/root", "/root/e/f"),
            ("tree/.", "/tmp/other", "/tmp/other/e/f"),
            ("tree/e/f", "/tmp/new/", "/tmp/new/f"),
            ("tree/e/f", "/tmp/tree/g", "/tmp/tree/g"),
        ] {
            silent(line(host, &ADA, &format!("cp {from} {name}:{to}")))
                .with_context(|| format!("{name}: {from} to {to}"))?;
            let text = inside(host, &made, &format!("cat {found}"))?;
            ensure!(text == "x\n", "{name}: {from} to {to}: {text}");
        }
        shell(&ADA, "rm -rf back")?;
        silent(line(host, &ADA, &format!("cp {name}:/tmp/new back")))?;
        ensure!(fs::read_to_string("/home/ada/back/e/f")? == "x\n");
        let refused = line(host, &ADA, &format!("cp tree {name}:/tmp/none/deep")).run()?;
        ensure!(refused.code == Some(1) && refused.err().lines().count() == 1, "{refused}");
        let refused = line(host, &ADA, &format!("cp tree {name}:/tmp/new/f")).run()?;
        ensure!(refused.code == Some(1), "a folder over a file: {refused}");
        ensure!(inside(host, &made, "cat /tmp/new/f")? == "x\n");
        gone(host, &ADA, name)?;
    }
    Ok(())
}

fn archives(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "arc-i", &[])?;
    let made = ["a", "b"].map(|label| Made::own(&ADA, "arc-i", label));
    made.iter().try_for_each(|one| one.start(host))?;
    inside(host, &made[0], "mkdir -p /tmp/d; head -c 3000000 /dev/zero >/tmp/d/zeros; echo x >/tmp/d/f")?;
    shell(&ADA, "flake-ctl cp arc-i@a:/tmp/d - | flake-ctl cp - arc-i@b:/root")?;
    ensure!(inside(host, &made[1], "cat /root/d/f; wc -c </root/d/zeros")? == "x\n3000000\n");
    gone(host, &ADA, "arc-i")
}

fn refusals(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "ref-i", &[])?;
    keeping(host, &ADA, "rec-i", &["--as-caller"])?;
    Made::own(&ADA, "ref-i", "ref-i").start(host)?;
    Made { options: AS_CALLER, ..Made::own(&ADA, "rec-i", "rec-i") }.start(host)?;
    for (words, said) in [
        ("a b", "neither of the two is in an instance\nhint: write APP:/PATH or APP@NAME:/PATH"),
        ("ref-i:/a ref-i:/b", "one of the two has to be on the host\nhint: copy it out first"),
        ("ref-i: x", "ref-i: has no path after the colon"),
        ("ref-i@x:/a b", "there is no instance ref-i@x, only ref-i"),
        ("ref-i:/none b", "\"/none\" could not be found on container ref-i: no such file or directory"),
        ("none ref-i:/tmp", "cannot read /home/ada/none: no such file or directory"),
        ("none rec-i:/tmp", "cannot read /home/ada/none: no such file or directory"),
    ] {
        refused(line(host, &ADA, &format!("cp {words}")), &format!("flake-ctl: {said}\n"))?;
    }
    for name in ["ref-i", "rec-i"] {
        let words = format!("cp - {name}:/tmp");
        let outcome = line(host, &ADA, &words).input("no archive at all".repeat(100)).run()?;
        ensure!(outcome.code == Some(1) && outcome.err().lines().count() == 1, "{outcome}");
        gone(host, &ADA, name)?;
    }
    Ok(())
}
