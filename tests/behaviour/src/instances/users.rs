//! Scripts of root in an instance of an image that is somebody else's: calls are that user's all the same.

use anyhow::{Result, ensure};
use flake_testkit::Image;
use std::fs;

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_app", &["--mutable"], named),
    ("i_number", &["--mutable"], numbered),
    ("i_homed", &["--mutable"], homed),
    ("i_entry", &["--mutable"], entrypoint),
    ("i_labelled", &["--mutable"], labelled),
    ("i_own_user", &["--mutable"], own_option),
];

/// A user by name, who is in a second group.
const SERVED: Image = Image {
    name: "served",
    files: &[
        ("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000:app:/srv/app:/bin/sh\n"),
        ("/etc/group", "root:x:0:\napp:x:1000:\ncrew:x:50:app\n"),
        ("/srv/app/file", "text\n"),
    ],
    files_owner: 1000,
    changes: &["USER app", "WORKDIR /srv/app"],
    ..Image::BOX
};
const HOMED: Image = Image { name: "homed", changes: &["USER app:crew", "ENV HOME=/srv"], ..SERVED };
const ENTRY: Image = Image {
    name: "served-entry",
    changes: &["USER 1000", r#"ENTRYPOINT ["/bin/sh", "-c"]"#, r#"CMD ["id -u"]"#],
    ..SERVED
};

/// What is said about who calls, where and with what rights.
const WHO: &str = "id -u; id -g; id -G; echo $HOME; pwd; grep ^CapEff /proc/self/status | cut -f2; touch mine && stat -c %u:%g mine";

/// The same flake of another image, with the scripts or without.
fn of<'a>(
    ground: &Ground<'a>,
    (suffix, image, target): (&str, &Image, &str),
    options: &[&str],
) -> Result<Ground<'a>> {
    let name = format!("{}{suffix}", ground.name);
    let options: Vec<_> = ["--mutable"].iter().chain(options).copied().collect();
    Ground::of(ground.host, ground.way, (&name, image, target), &options)
}

const LAYER: &str = "\
provision:
- script: echo system `id -u` $HOME >>/log; chmod 644 /log; touch /bin/provisioned
- {mode: user, script: 'echo user `id -u` `id -g` $HOME >>/tmp/log'}
- {run: change, script: 'echo change >>/log'}
probes:
- script: test `id -u` != 0
";

/// Calls are the same with scripts and without, and after a stop.
fn same(ground: &Ground<'_>, image: &Image, user: &str) -> Result<()> {
    let plain = of(ground, ("_plain", image, "/bin/busybox"), &[])?;
    let with = of(ground, ("_with", image, "/bin/busybox"), &[])?;
    with.layer(LAYER)?;
    let expected = plain.call(&["sh", "-c", WHO])?;
    ensure!(expected.success(), "{expected}");
    with.prints(&["cat", "/log"], "system 0 /root\nchange\n")?;
    with.prints(&["cat", "/tmp/log"], user)?;
    for _ in 0..2 {
        with.prints(&["sh", "-c", WHO], &expected.out())?;
        let shown = with.shown(&format!("\"$APP\" sh -c '{WHO}'"))?;
        ensure!(shown == expected.out().replace('\n', "\\r\\n"), "{shown}, expected {expected}");
        let refused = with.call(&["touch", "/bin/not"])?;
        ensure!(!refused.success(), "it is root's right: {refused}");
        with.stop(&with.name)?;
    }
    // A note that is lost is written anew.
    fs::remove_file(with.notes().join(&with.name))?;
    with.prints(&["sh", "-c", WHO], &expected.out())?;
    with.prints(&["cat", "/log"], "system 0 /root\nchange\n")?;
    // Files that are copied belong to whoever calls.
    let file = with.user().home().join(&with.name);
    fs::write(&file, "x")?;
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    with.manage("cp", &[&file.display().to_string(), &format!("{}:/srv/app/", with.name)])?;
    let id = expected.out().lines().next().unwrap_or_default().to_owned();
    with.prints(&["stat", "-c", "%u", &format!("/srv/app/{}", with.name)], &format!("{id}\n"))?;
    fs::remove_file(&file)?;
    plain.end()?;
    with.end()
}

fn named(ground: &Ground<'_>) -> Result<()> {
    same(ground, &SERVED, "user 1000 1000 /srv/app\n")
}

fn numbered(ground: &Ground<'_>) -> Result<()> {
    same(
        ground,
        &Image { name: "numbered", changes: &["USER 1234", "WORKDIR /tmp"], ..SERVED },
        "user 1234 0 /tmp\n",
    )
}

fn homed(ground: &Ground<'_>) -> Result<()> {
    same(
        ground,
        &Image { changes: &["USER app:crew", "ENV HOME=/srv", "WORKDIR /srv/app"], ..HOMED },
        "user 1000 50 /srv\n",
    )
}

fn entrypoint(ground: &Ground<'_>) -> Result<()> {
    let with = of(ground, ("_with", &ENTRY, "/"), &[])?;
    with.layer(LAYER)?;
    with.prints(&[], "1000\n")?;
    with.prints(&["cat /log; id -u"], "system 0 /root\nchange\n1000\n")?;
    with.end()
}

/// Labels of an image say nothing about who calls.
fn labelled(ground: &Ground<'_>) -> Result<()> {
    let image = Image {
        name: "labelled",
        changes: &["LABEL flake.image-user=1000", "LABEL flake.image-home=/nowhere"],
        ..SERVED
    };
    let with = of(ground, ("_with", &image, "/bin/busybox"), &[])?;
    for layer in ["", LAYER.split_once("probes:").map_or("", |(scripts, _)| scripts)] {
        with.layer(layer)?;
        with.prints(&["flake", "new", "args", "sh", "-c", "id -u; echo $HOME"], "0\n/root\n")?;
    }
    with.end()
}

/// An option of the flake that says who is heeded; scripts of root then have nobody to run them.
fn own_option(ground: &Ground<'_>) -> Result<()> {
    let with = of(ground, ("_with", &SERVED, "/bin/busybox"), &["--opt", "--user=50"])?;
    with.prints(&["id", "-u"], "50\n")?;
    with.layer("provision:\n- {mode: user, script: 'id -u >/tmp/log'}\n")?;
    let outcome = with.call(&["@x", "cat", "/tmp/log"])?;
    ensure!(outcome.code == Some(125) || outcome.out() == "50\n", "{outcome}");
    with.layer("provision:\n- script: 'true'\n")?;
    let outcome = with.call(&["@y", "true"])?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("provision[0] (system)"), "{outcome}");
    with.end()
}
