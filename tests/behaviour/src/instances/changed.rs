//! Image or flake are not what an instance was made of.

use anyhow::{Result, ensure};
use flake_testkit::{Call, Image};
use std::ffi::OsStr;

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_image", &["--mutable"], image),
    ("i_flake", &["--mutable"], flake),
    ("i_update", &["--mutable"], update),
    ("i_gone", &["--mutable"], gone),
];

/// A small system in which `/next` is.
const NEXT: Image = Image { name: "next", files: &[("/next", "next\n")], ..Image::BOX };

/// What a person is told whose instance is an old one.
fn notice(ground: &Ground<'_>) -> String {
    let name = &ground.name;
    format!(
        "{name}: image or flake have changed since this instance was made; to make it anew: {name} flake update\\r\\n"
    )
}

/// The flake has an image of its own, whose name can be moved: podman loses names that are given to one image at once.
fn own_image(ground: &Ground<'_>, name: &'static str) -> Result<()> {
    let tag = ground.host.image(ground.way.owner, &Image { name, ..Image::BOX })?;
    let app = ground.subject.app.as_os_str();
    let words =
        ["podman", "register", "--force", "--mutable", "--target", "/bin/busybox", "--container", &tag];
    let words = words.map(OsStr::new).into_iter().chain(["--app".as_ref(), app]);
    let words = words.chain(ground.way.options.iter().map(OsStr::new));
    ground.host.flake_ctl(ground.way.owner, words).check()?;
    ground.set_up()
}

fn image(ground: &Ground<'_>) -> Result<()> {
    own_image(ground, "i_image")?;
    ground.prints(&["touch", "/data"], "")?;
    ground.host.image(ground.way.owner, &NEXT)?;
    ground.owners_podman(["tag", "localhost/next", &format!("localhost/{}", ground.name)])?;
    // Only an update says that the flake is to have the new one.
    let shown = ground.shown("\"$APP\" ls /data")?;
    ensure!(shown == "/data\\r\\n", "{shown}");
    ground.host.flake_ctl(ground.way.owner, ["update", &ground.name]).check()?;
    let shown = ground.shown("\"$APP\" ls /data")?;
    ensure!(shown == format!("{}/data\\r\\n", notice(ground)), "{shown}");
    // Nobody is there to be told.
    ground.prints(&["sh", "-c", "ls /data; test ! -e /next"], "/data\n")?;
    // It stays an old one when it is started again.
    ground.stop(&ground.name)?;
    let shown = ground.shown("\"$APP\" ls /data")?;
    ensure!(shown == format!("{}/data\\r\\n", notice(ground)), "{shown}");
    // Another one is made of the new image.
    ground.prints(&["@new", "cat", "/next"], "next\n")?;
    let shown = ground.shown("\"$APP\" @new cat /next")?;
    ensure!(shown == "next\\r\\n", "{shown}");
    remade(ground, &format!("@{}", ground.name))?;
    let shown = ground.shown(&format!("\"$APP\" @{} cat /next", ground.name))?;
    ensure!(shown == "next\\r\\n", "{shown}");
    let tag = format!("localhost/{}", ground.name);
    ground.owners_podman(["untag", &tag, &tag]).map(drop)
}

/// `NAME flake update`, with a yes.
fn remade(ground: &Ground<'_>, name: &str) -> Result<()> {
    let terminal = ground.terminal(&format!("\"$APP\" {name} flake update; echo \"status $?\""))?;
    terminal.expect(" will be lost. Make it anew? [y/N] ")?;
    terminal.send("y\r")?;
    terminal.expect("y\r\nstatus 0\r\n")?;
    terminal.end()?;
    Ok(())
}

fn flake(ground: &Ground<'_>) -> Result<()> {
    ground.prints(&["touch", "/data"], "")?;
    let app = ground.subject.app.display().to_string();
    let words = ["podman", "register", "--force", "--mutable", "--container", "localhost/box"];
    let more = ["--target", "/bin/busybox", "--app", &app, "--opt", "--hostname=other"];
    let words = [&words[..], &more, ground.way.options].concat();
    ground.host.flake_ctl(ground.way.owner, words).check()?;
    let shown = ground.shown("\"$APP\" sh -c 'ls /data; test `hostname` != other'")?;
    ensure!(shown == format!("{}/data\\r\\n", notice(ground)), "{shown}");
    if ground.way.is_set_up() {
        // Whichever call brings the image says so.
        let shown = ground.shown("\"$APP\" %remove @x true")?;
        ensure!(shown == "i_flake: setting up the image\\r\\n", "{shown}");
    }
    remade(ground, "")?;
    ground.prints(&["sh", "-c", "hostname; ls /data 2>/dev/null || true"], "other\n")?;
    // What decides nothing about how it is made.
    ground.layer("container: {runtime: {env: [A=b]}}\n")?;
    let shown = ground.shown("\"$APP\" sh -c 'echo $A'")?;
    ensure!(shown == "b\\r\\n", "{shown}");
    Ok(())
}

fn update(ground: &Ground<'_>) -> Result<()> {
    ground.refuses(&["flake", "update=x"], "there is no instance x; see: i_update flake list")?;
    ground.prints(&["touch", "/data"], "")?;
    let id = ground.id("i_update")?;
    ground.refuses(
        &["flake", "update"],
        "update loses all data in instance i_update, which is asked on a terminal; without one: i_update flake \
         remove=i_update, then call it again",
    )?;
    for (answer, end) in [("n\r", "status 1\r\n"), ("\r", "status 1\r\n"), ("yesno\r", "status 1\r\n")] {
        let terminal = ground.terminal("\"$APP\" flake update; echo \"status $?\"")?;
        terminal.expect("All data in instance i_update of i_update will be lost. Make it anew? [y/N] ")?;
        terminal.send(answer)?;
        terminal.expect(end)?;
        terminal.end()?;
    }
    let terminal = ground.terminal("trap : INT; \"$APP\" flake update; echo \"status $?\"")?;
    terminal.expect("[y/N] ")?;
    terminal.send("\x03")?;
    terminal.expect("status 130\r\n")?;
    terminal.end()?;
    ensure!(ground.id("i_update")? == id);
    let running = ground.running(&[])?;
    let terminal = ground.terminal("\"$APP\" flake update; echo \"status $?\"")?;
    terminal.expect("[y/N] ")?;
    terminal.send("y\r")?;
    terminal.expect("i_update: instance i_update is in use\r\nstatus 125\r\n")?;
    terminal.end()?;
    ensure!(running.end()?.success());
    ground.prints(&["ls", "/data"], "/data\n")?;
    remade(ground, "")?;
    ensure!(ground.id("i_update")? != id);
    ground.prints(&["sh", "-c", "ls /data 2>/dev/null || echo none"], "none\n")?;
    ground.has(&["i_update"])
}

/// An image that is gone takes nothing from what was made of it.
fn gone(ground: &Ground<'_>) -> Result<()> {
    let tag = format!("localhost/{}", ground.name);
    own_image(ground, "i_gone")?;
    ground.prints(&["touch", "/data"], "")?;
    ground.owners_podman(["untag", &tag, &tag])?;
    ground.prints(&["ls", "/data"], "/data\n")?;
    ground.stop(&ground.name)?;
    ground.prints(&["ls", "/data"], "/data\n")?;
    let mut command = ground.subject.command();
    command.args(["@other", "true"]);
    Call::new(command).run().map(drop)?;
    ground.prints(&[&format!("@{}", ground.name), "ls", "/data"], "/data\n")
}
