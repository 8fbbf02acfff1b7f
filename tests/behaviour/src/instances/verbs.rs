//! `APP flake ...`.

use anyhow::{Result, ensure};
use std::time::Duration;

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_help", &["--mutable"], help),
    ("i_list", &["--mutable"], list),
    ("i_new", &["--mutable"], new),
    ("i_resume", &["--resume"], resume),
    ("i_remove", &["--mutable"], remove),
    ("i_args", &["--mutable"], args),
    ("i_mistakes", &["--mutable"], mistakes),
    ("i_none", &[], none),
];

fn help(ground: &Ground<'_>) -> Result<()> {
    for words in [&["flake"][..], &["flake", "--help"], &["flake", "help"], &["%progress", "flake", "-h"]] {
        let outcome = ground.call(words)?;
        let text = outcome.out();
        ensure!(outcome.success() && outcome.stderr.is_empty(), "{outcome}");
        for word in
            ["flake list", "flake new[=NAME]", "flake resume=NAME", "flake remove=NAME", "flake update"]
        {
            ensure!(text.contains(&format!("i_help {word} ")), "no {word}: {text}");
        }
    }
    // Whoever asks for help makes nothing.
    ground.has(&[])
}

fn list(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["flake", "list"], "")?;
    ground.prints(&["true"], "")?;
    ground.prints(&["@other", "true"], "")?;
    ground.idle("i_list", Duration::from_secs(3 * 24 * 3600 + 5))?;
    let running = ground.running(&["@other"])?;
    ground.prints(&["flake", "list"], "i_list  used 3 days ago\nother   in use\n")?;
    // Also where another instance is named.
    ground.prints(&["@x", "flake", "list"], "i_list  used 3 days ago\nother   in use\n")?;
    ensure!(running.end()?.success());
    ground.idle("other", Duration::from_secs(60))?;
    ground.prints(&["flake", "list"], "i_list  used 3 days ago\nother   used 1 minute ago\n")
}

fn new(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["flake", "new=Junky_Jack", "args", "sh", "-c", "echo jack >/who"], "")?;
    ground.has(&["Junky_Jack"])?;
    ground.refuses(
        &["flake", "new=Junky_Jack"],
        "there is an instance Junky_Jack already; try: i_new flake resume=Junky_Jack",
    )?;
    // Each is another one: the one without a name at first.
    for _ in 0..3 {
        ground.prints(&["flake", "new", "args", "sh", "-c", "test ! -e /who"], "")?;
    }
    ground.has(&["Junky_Jack", "i_new", "i_new-2", "i_new-3"])?;
    ground.prints(&["@Junky_Jack", "cat", "/who"], "jack\n")?;
    // Without words for the application it runs all the same: busybox lists what it can.
    let outcome = ground.call(&["flake", "new=plain"])?;
    ensure!(outcome.success() && outcome.out().starts_with("BusyBox"), "{outcome}");
    Ok(())
}

fn resume(ground: &Ground<'_>) -> Result<()> {
    ground.refuses(&["flake", "resume=x"], "there is no instance x; see: i_resume flake list")?;
    ground.has(&[])?;
    ground.prints(&["@x", "touch", "/data"], "")?;
    ground.prints(&["@y", "true"], "")?;
    ground.prints(&["flake", "resume=x", "args", "ls", "/data"], "/data\n")?;
    ground.stop("x")?;
    ground.prints(&["flake", "resume=x", "args", "ls", "/data"], "/data\n")?;
    ground.refuses(&["flake", "resume=z"], "there is no instance z, only x, y; see: i_resume flake list")
}

fn remove(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["touch", "/data"], "")?;
    ground.prints(&["@x", "touch", "/data"], "")?;
    ground.refuses(
        &["flake", "remove=y"],
        "there is no instance y, only i_remove, x; see: i_remove flake list",
    )?;
    let running = ground.running(&["@x"])?;
    ground.refuses(
        &["flake", "remove=x"],
        &format!("instance x is in use; to end what runs in it: {} --force i_remove@x", ground.rm()),
    )?;
    ensure!(running.end()?.success());
    ground.prints(&["flake", "remove=x"], "")?;
    ground.has(&["i_remove"])?;
    ground.prints(&["@x", "sh", "-c", "test ! -e /data"], "")?;
    // The one without a name has the group's.
    ground.stop("i_remove")?;
    ground.prints(&["flake", "remove=i_remove"], "")?;
    ground.prints(&["@x", "flake", "remove=x"], "")?;
    ground.has(&[])?;
    ensure!(std::fs::read_dir(ground.notes())?.count() == 1, "more than the locks are left");
    Ok(())
}

fn args(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["flake", "args", "echo", "flake", "list"], "flake list\n")?;
    ground.prints(&["echo", "flake", "list"], "flake list\n")?;
    ground.prints(&["flake", "args", "echo", "%progress", "@x", "@@x"], "%progress @x @@x\n")?;
    ground.prints(&["@x", "flake", "args", "echo", "hi"], "hi\n")?;
    ground.prints(&["@x", "flake", "args", "sh", "-c", "echo \"$#\"", "sh", ""], "1\n")
}

fn mistakes(ground: &Ground<'_>) -> Result<()> {
    for (words, text) in [
        (&["flake", "nwe"][..], "flake nwe: no such word; see: i_mistakes flake --help"),
        (&["flake", "resume"], "flake resume needs a name, as in: i_mistakes flake resume=NAME"),
        (&["flake", "remove"], "flake remove needs a name, as in: i_mistakes flake remove=NAME"),
        (&["flake", "list", "x"], "flake x: no such word; see: i_mistakes flake --help"),
        (&["flake", "list", "args", "x"], "flake list takes no further words"),
        (&["@a", "flake", "resume=b"], "two instances are named, a and b"),
    ] {
        ground.refuses(words, text)?;
    }
    let outcome = ground.call(&["flake", "new=a/b"])?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("a/b"), "{outcome}");
    ground.has(&[])
}

/// What is thrown away has no such words.
fn none(ground: &Ground<'_>) -> Result<()> {
    let outcome = ground.call(&["flake", "list"])?;
    ensure!(outcome.code == Some(127) && outcome.err().contains("flake: applet not found"), "{outcome}");
    ground.prints(&["echo", "flake", "@x", "@@y"], "flake @x @@y\n")?;
    ground.has(&[])
}
