//! What is listed, to the letter.

use std::fs;

use anyhow::{Result, ensure};
use flake_testkit::{BOB, Call, Conversation, Image, ScratchHost, processes, until};

use crate::Case;
use crate::told::{line, silent, told};

pub(crate) const CASES: &[Case] = &[("registrations_and_instances_are_listed", bobs)];

/// One trial, since all of it is bob's.
fn bobs(host: &ScratchHost) -> Result<()> {
    host.image(&BOB, &Image::BOX)?;
    host.image(&BOB, &Image::ENTRY)?;
    empty(host)?;
    // Podman knows of an instance that it has made, as of joe.
    for (image, target, name, option) in [
        ("localhost/box", "/bin/busybox", "joe", "--privileged"),
        ("localhost/entry", "/", "py3.11", "--network=host"),
        ("localhost/box", "/bin/a,b", "z", "--network=none"),
    ] {
        let app = format!("/home/bob/{name}");
        let words = ["register", "--container", image, "--target", target, "--app", &app];
        host.flake_ctl(&BOB, words.into_iter().chain(["--opt", option])).check()?;
    }
    fs::remove_file("/home/bob/.local/state/flakes/plans/z")?;
    fs::write("/home/bob/.config/flakes/joe.d/1.yaml", "container: {target_app_path: /bin/sh}\n")?;
    whole(host)?;
    broken(host)?;
    instances(host)?;
    for name in ["joe", "py3.11", "z"] {
        silent(host.flake_ctl(&BOB, ["remove", "--app", &format!("/home/bob/{name}")]))?;
    }
    empty(host)
}

fn empty(host: &ScratchHost) -> Result<()> {
    let headings = "NAME  ENGINE  TARGET APP PATH  HOST APP PATH  CONFIG  WAY  REASON\n";
    told(line(host, &BOB, "list --user"), 0, headings, "")?;
    told(line(host, &BOB, "list --user --format json"), 0, "[]\n", "")?;
    told(line(host, &BOB, "list --user --format csv"), 0, "", "")?;
    told(
        line(host, &BOB, "podman show"),
        0,
        "NAME  USER  ID  STATUS  IMAGE  CONFIG  INSTANCE  CREATED  LAST USE\n",
        "",
    )
}

fn whole(host: &ScratchHost) -> Result<()> {
    told(
        line(host, &BOB, "list --user"),
        0,
        "NAME    ENGINE  TARGET APP PATH  HOST APP PATH     CONFIG                                WAY     REASON\n\
         joe     podman  /bin/sh          /home/bob/joe     /home/bob/.config/flakes/joe.yaml     agent   --privileged\n\
         py3.11  podman  /                /home/bob/py3.11  /home/bob/.config/flakes/py3.11.yaml  runner  -\n\
         z       podman  /bin/a,b         /home/bob/z       /home/bob/.config/flakes/z.yaml       -       planned at the first call\n",
        "",
    )?;
    told(
        line(host, &BOB, "list --user --format csv"),
        0,
        "joe,podman,/bin/sh,/home/bob/joe,/home/bob/.config/flakes/joe.yaml,agent,--privileged\r\n\
         py3.11,podman,/,/home/bob/py3.11,/home/bob/.config/flakes/py3.11.yaml,runner,\r\n\
         z,podman,\"/bin/a,b\",/home/bob/z,/home/bob/.config/flakes/z.yaml,,planned at the first call\r\n",
        "",
    )?;
    // The system's come first.
    let all = line(host, &BOB, "list --format csv").check()?.out();
    let last =
        "z,podman,\"/bin/a,b\",/home/bob/z,/home/bob/.config/flakes/z.yaml,,planned at the first call\r\n";
    ensure!(all.ends_with(last), "{all}");
    Ok(())
}

fn broken(host: &ScratchHost) -> Result<()> {
    let file = "/home/bob/.config/flakes/bad.yaml";
    fs::write(file, "container: {nam: x}\n")?;
    fs::create_dir("/home/bob/.config/flakes/dir.yaml")?;
    let outcome = line(host, &BOB, "list --user --format json").run()?;
    let listed: serde_json::Value = serde_json::from_slice(&outcome.stdout)?;
    let expected = serde_json::json!([
        {"name": "bad", "engine": null, "target": null, "host_app_path": null, "config": file,
         "way": null, "reason": null},
        {"name": "dir", "engine": null, "target": null, "host_app_path": null,
         "config": "/home/bob/.config/flakes/dir.yaml", "way": null, "reason": null},
        {"name": "joe", "engine": "podman", "target": "/bin/sh", "host_app_path": "/home/bob/joe",
         "config": "/home/bob/.config/flakes/joe.yaml", "way": "agent", "reason": "--privileged"},
        {"name": "py3.11", "engine": "podman", "target": "/", "host_app_path": "/home/bob/py3.11",
         "config": "/home/bob/.config/flakes/py3.11.yaml", "way": "runner", "reason": null},
        {"name": "z", "engine": "podman", "target": "/bin/a,b", "host_app_path": "/home/bob/z",
         "config": "/home/bob/.config/flakes/z.yaml", "way": null, "reason": "planned at the first call"},
    ]);
    ensure!(listed == expected, "{outcome}");
    let said = outcome.err();
    ensure!(outcome.code == Some(1), "{outcome}");
    ensure!(
        said.starts_with("/home/bob/.config/flakes/bad.yaml:1:13: unknown key `nam` in `container`\n"),
        "{said}"
    );
    ensure!(said.ends_with("/home/bob/.config/flakes/dir.yaml: a directory, not a file\n"), "{said}");
    fs::remove_file(file)?;
    fs::remove_dir("/home/bob/.config/flakes/dir.yaml")?;
    Ok(())
}

fn instances(host: &ScratchHost) -> Result<()> {
    let mark = host.mark();
    let mut call = BOB.command("/home/bob/py3.11");
    call.arg(&mark);
    // The flake with the entrypoint ends at once, so another one is shown.
    Call::new(call).check()?;
    fs::remove_file("/home/bob/.config/flakes/joe.d/1.yaml")?;
    let mut call = BOB.command("/home/bob/joe");
    call.args(["sleep", &mark]);
    let running = Conversation::new(Call::new(call).spawn()?);
    let shown = || line(host, &BOB, "show --format csv").run().ok().filter(|shown| !shown.stdout.is_empty());
    until("the instance", shown, String::new)?;
    let json = line(host, &BOB, "show --format json").check()?;
    let shown: serde_json::Value = serde_json::from_slice(&json.stdout)?;
    let whole = shown[0]["id"].as_str().unwrap_or_default().to_owned();
    ensure!(whole.len() == 64, "{json}");
    let expected = serde_json::json!([{"name": "joe", "user": "bob", "id": whole, "status": "running",
        "image": "localhost/box:latest", "config": "/home/bob/.config/flakes/joe.yaml", "instance": null,
        "created": shown[0]["created"], "last_use": null, "in_use": true}]);
    ensure!(shown == expected, "{json}");
    let id = &whole[..12];
    let created = shown[0]["created"].as_str().unwrap_or_default();
    let table = line(host, &BOB, "podman show").check()?.out();
    ensure!(
        table
            == format!(
                "NAME  USER  ID            STATUS   IMAGE                 CONFIG                             \
                 INSTANCE  CREATED               LAST USE\n\
                 joe   bob   {id}  running  localhost/box:latest  /home/bob/.config/flakes/joe.yaml  \
                 -         {created}  now\n"
            ),
        "{table}"
    );
    running.signal(nix::sys::signal::Signal::SIGTERM);
    running.end()?;
    processes::until_gone(&mark)?;
    Ok(())
}
