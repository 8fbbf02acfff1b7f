//! Which instance a call means.

use anyhow::{Result, ensure};
use flake_testkit::Image;

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_one", &["--mutable"], one),
    ("i_leading", &["--mutable"], leading),
    ("i_trailing", &["--mutable"], trailing),
    ("i_group", &["--instance", "i_group"], group),
];

/// One instance, however it is called.
fn one(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["sh", "-c", "echo data >/data"], "")?;
    let id = ground.id("i_one")?;
    for words in [&["cat", "/data"][..], &["sh", "-c", "cat /data"], &["head", "-n", "1", "/data"]] {
        ground.prints(words, "data\n")?;
    }
    ensure!(ground.shown("\"$APP\" cat /data")? == "data\\r\\n");
    ground.has(&["i_one"])?;
    ensure!(ground.id("i_one")? == id);
    // And when it has another name, it is the only one that can be meant.
    ground.prints(&["flake", "remove=i_one"], "")?;
    ground.prints(&["@other", "touch", "/other"], "")?;
    ground.prints(&["ls", "/other"], "/other\n")?;
    ground.has(&["other"])
}

fn leading(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["@a", "sh", "-c", "echo a >/who"], "")?;
    ground.prints(&["@i_leading", "sh", "-c", "echo unnamed >/who"], "")?;
    ground.has(&["a", "i_leading"])?;
    ground.prints(&["@a", "cat", "/who"], "a\n")?;
    ground.prints(&["%progress", "@a", "cat", "/who"], "a\n")?;
    ground.prints(&["@a", "%progress", "cat", "/who"], "a\n")?;
    // Behind a name all is the application's, and what is no name is.
    ground.prints(&["@a", "echo", "@b", "@@b"], "@b @@b\n")?;
    ground.prints(&["@i_leading", "cat", "/who"], "unnamed\n")?;
    let outcome = ground.call(&["@a/b", "x"])?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("several instances"), "{outcome}");
    ground.prints(&["flake", "remove=i_leading"], "")?;
    // Busybox names the last part of a path.
    for (word, applet) in [("@@b", "@b"), ("@a/b", "b"), ("@", "@"), ("@@@b", "@@@b")] {
        let outcome = ground.call(&[word])?;
        ensure!(
            outcome.code == Some(127) && outcome.err() == format!("{applet}: applet not found\n"),
            "{word}: {outcome}"
        );
    }
    ground.has(&["a"])
}

fn trailing(ground: &Ground<'_>) -> Result<()> {
    // Nobody has made it, so it is a word like any other.
    ground.prints(&["echo", "help", "@mine"], "help @mine\n")?;
    ground.prints(&["@mine", "sh", "-c", "echo mine >/who"], "")?;
    ground.prints(&["cat", "/who", "@mine"], "mine\n")?;
    ground.prints(&["@i_trailing", "echo", "help", "@mine"], "help @mine\n")?;
    ground.prints(&["echo", "help", "@mine"], "help\n")?;
    ground.prints(&["@mine", "echo", "help", "@@mine"], "help @@mine\n")?;
    ground.prints(&["flake", "remove=i_trailing"], "")?;
    ground.prints(&["echo", "help", "@@mine"], "help @mine\n")?;
    ground.prints(&["echo", "help", "@@other"], "help @@other\n")?;
    ground.prints(&["echo", "@mine", "help"], "@mine help\n")?;
    ground.has(&["mine"])
}

/// Two flakes of a user in one environment.
fn group(ground: &Ground<'_>) -> Result<()> {
    let other = format!("{}b", ground.name);
    let other =
        Ground::of(ground.host, ground.way, (&other, &Image::BOX, "/bin/cat"), &["--instance", "i_group"])?;
    ground.prints(&["sh", "-c", "echo data >/data"], "")?;
    other.prints(&["/data"], "data\n")?;
    ground.has(&["i_group"])?;
    other.refuses(
        &["flake", "update"],
        "update loses all data in instance i_group, which is asked on a terminal; without one: i_groupb flake \
         remove=i_group, then call it again",
    )?;
    // By the name of the group, whoever is called.
    other.prints(&["@i_group", "/data"], "data\n")?;
    other.prints(&["@x", "/etc/group"], "root:x:0:\n")?;
    ground.prints(&["@x", "sh", "-c", "echo x >/data"], "")?;
    other.prints(&["@x", "/data"], "x\n")?;
    ground.has(&["i_group", "x"])?;
    let list = other.call(&["flake", "list"])?;
    other.refuses(&["flake", "new=x"], "there is an instance x already; try: i_groupb flake resume=x")?;
    ensure!(list.out().lines().map(|line| line.split(' ').next()).eq([Some("i_group"), Some("x")]), "{list}");
    // One of them goes; what both have stays.
    let app = other.subject.app.display().to_string();
    ground.host.flake_ctl(ground.way.owner, ["remove", "--app", &app]).check()?;
    ground.prints(&["@x", "cat", "/data"], "x\n")
}
