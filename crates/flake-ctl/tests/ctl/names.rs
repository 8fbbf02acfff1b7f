//! What is refused before anything is touched.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::Result;
use flake_testkit::{ADA, Image, ROOT, ScratchHost};

use crate::Case;
use crate::told::{BOX, absent, line, refused, told};

pub(crate) const CASES: &[Case] = &[
    ("paths_that_no_command_can_have", paths),
    ("targets_that_cannot_run", targets),
    ("what_stands_there_stays", standing),
    ("names_that_are_needed", reserved),
    ("words_that_mean_nothing", usage),
    ("files_that_are_not_there", includes),
];

fn paths(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    let with = |app| host.flake_ctl(&ADA, BOX.iter().chain(&["--app", app]));
    refused(with("bin/joe"), "flake-ctl: bin/joe is not an absolute path\n")?;
    refused(
        with("~/bin/joe"),
        "flake-ctl: ~/bin/joe is not an absolute path\nhint: a shell puts your home for ~ only where it is not quoted\n",
    )?;
    refused(
        with("/home/ada/../joe"),
        "flake-ctl: /home/ada/../joe has `..` in it, write the path it means\n",
    )?;
    refused(
        with("/home/ada/.joe"),
        "flake-ctl: /home/ada/.joe: `.joe` cannot be the name of a flake (it begins with a dot or a dash)\n",
    )?;
    refused(
        with("/usr/bin/joe-b"),
        "flake-ctl: cannot make /usr/bin/joe-b: permission denied\n\
         hint: a normal user registers below the own home, or: sudo flake-ctl podman register --app /usr/bin/joe-b ...\n",
    )?;
    absent("/home/ada/.config/flakes/joe-b.yaml")?;
    absent("/home/ada/.config/flakes/joe-b.d")
}

fn targets(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    host.image(&ADA, &Image::ENTRY)?;
    let with = |image, target| {
        host.flake_ctl(&ADA, ["register", "--container", image, "--app", "/home/ada/aim", "--target", target])
    };
    refused(with("localhost/box", "bin/sh"), "flake-ctl: bin/sh is not an absolute path\n")?;
    refused(
        with("localhost/box", "/"),
        "flake-ctl: image localhost/box has neither an entrypoint nor a command, so `/` runs nothing\n\
         hint: name the program inside: --target /PATH\n",
    )?;
    absent("/home/ada/aim")?;
    with("localhost/entry", "/").check()?;
    line(host, &ADA, "remove --app /home/ada/aim").check()?;
    Ok(())
}

fn standing(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    fs::write("/usr/local/share/file", "theirs")?;
    fs::create_dir("/usr/local/share/folder")?;
    fs::create_dir_all("/usr/share/flakes/odd-b.yaml")?;
    symlink("/nowhere", "/usr/local/share/dangling")?;
    let with = |app| host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", app]));
    refused(
        with("/usr/local/share/file"),
        "flake-ctl: /usr/local/share/file exists already\nhint: --force replaces it\n",
    )?;
    refused(
        with("/usr/local/share/dangling"),
        "flake-ctl: /usr/local/share/dangling exists already\nhint: --force replaces it\n",
    )?;
    refused(with("/usr/local/share/folder"), "flake-ctl: /usr/local/share/folder is a folder\n")?;
    refused(
        with("/usr/local/share/file/x"),
        "flake-ctl: cannot make /usr/local/share/file: not a directory\n",
    )?;
    refused(with("/usr/local/share/odd-b"), "flake-ctl: /usr/share/flakes/odd-b.yaml is a folder\n")?;
    refused(
        host.flake_ctl(&ROOT, ["remove", "--app", "/usr/local/share/odd-b", "--force"]),
        "flake-ctl: /usr/share/flakes/odd-b.yaml is a folder, not a registration\n\
         hint: look into it, then: rm -r /usr/share/flakes/odd-b.yaml\n",
    )?;
    fs::remove_dir("/usr/share/flakes/odd-b.yaml")?;
    crate::told::holds("/usr/local/share/file", "theirs")
}

fn reserved(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    refused(
        host.flake_ctl(&ADA, BOX.iter().chain(&["--app", "/home/ada/bin/podman", "--force"])),
        "flake-ctl: no command can be named podman, flakes are run by it\nhint: register it under another name\n",
    )
}

/// The parser's refusals have its form, and exit status 2.
fn usage(host: &ScratchHost) -> Result<()> {
    let seen = |words: &str, end: &str| {
        let more = "\n\nFor more information, try '--help'.\n";
        let usage = "Usage: flake-ctl podman register [OPTIONS] --container <IMAGE>\n";
        let err = if end.ends_with('\n') { end.to_owned() } else { format!("error: {end}{more}") };
        let err = err.replace("{usage}", usage);
        told(host.flake_ctl(&ADA, ["podman", "register"].into_iter().chain(words.split(' '))), 2, "", &err)
    };
    seen(
        "--container x --app /x --share hme",
        "invalid value 'hme' for '--share <WHAT>': unknown word `hme` (did you mean `home`?)",
    )?;
    seen(
        "--container x --app /x --network hots",
        "invalid value 'hots' for '--network <host|none|private>': unknown word `hots` (did you mean `host`?)",
    )?;
    seen(
        "--container x --app /x --env *",
        "invalid value '*' for '--env <VARIABLE>': `*` would pass every variable (give a prefix: `AWS_*`)",
    )?;
    Ok(())
}

fn includes(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    refused(
        host.flake_ctl(&ADA, BOX.iter().chain(&["--app", "/home/ada/inc", "--include-tar", "none.tar"])),
        "flake-ctl: there is no /home/ada/none.tar\n",
    )
}
