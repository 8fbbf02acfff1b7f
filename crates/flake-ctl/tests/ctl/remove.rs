//! Removing takes away what registering made.

use std::fs;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost};

use crate::Case;
use crate::told::{BOX, absent, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("a_command_goes", command),
    ("what_is_not_a_command_stays", foreign),
    ("a_user_is_told_who_can_remove_it", the_systems),
    ("an_image_goes_with_its_commands", image),
    ("an_image_in_use_stays", in_use),
];

fn command(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let app = "/usr/local/bin/gone-d";
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", app])))?;
    fs::write("/usr/share/flakes/gone-d.d/x.yaml", "type: immutable\n")?;
    silent(line(host, &ROOT, "podman remove --app /usr/local/bin/gone-d"))?;
    for path in ["gone-d.yaml", "gone-d.d", "images/gone-d.oci.tar"] {
        absent(format!("/usr/share/flakes/{path}"))?;
    }
    absent(app)?;
    ensure!(!host.podman(&ROOT, ["image", "exists", "localhost/flake/gone-d"]).run()?.success());
    refused(
        line(host, &ROOT, "podman remove --app /usr/local/bin/gone-d"),
        "flake-ctl: /usr/local/bin/gone-d is not a registered command\nhint: flake-ctl list shows what is\n",
    )
}

fn foreign(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let app = "/usr/local/bin/mine-d";
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", app])))?;
    fs::remove_file(app)?;
    fs::write(app, "theirs")?;
    refused(
        line(host, &ROOT, "remove --app /usr/local/bin/mine-d"),
        "flake-ctl: /usr/local/bin/mine-d is not a link to the launcher\n\
         hint: --force removes its registration and leaves it alone\n",
    )?;
    told(
        line(host, &ROOT, "remove --app /usr/local/bin/mine-d --force"),
        0,
        "",
        "note: /usr/local/bin/mine-d is not a link to the launcher and stays\n",
    )?;
    crate::told::holds(app, "theirs")?;
    fs::remove_file(app)?;
    absent("/usr/share/flakes/mine-d.yaml")
}

fn the_systems(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/bin/theirs-d"])))?;
    refused(
        line(host, &ADA, "podman --user remove --app /usr/local/bin/theirs-d"),
        "flake-ctl: /usr/local/bin/theirs-d is not a registered command\n\
         hint: it is the system's: sudo flake-ctl podman remove --app /usr/local/bin/theirs-d\n",
    )?;
    silent(line(host, &ROOT, "remove --app /usr/local/bin/theirs-d"))
}

fn image(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image { name: "goes-d", files: &[("/4", "")], ..Image::BOX })?;
    host.podman(&ADA, ["tag", "localhost/goes-d", "localhost/alias-d"]).check()?;
    for (image, name) in
        [("localhost/goes-d", "one-d"), ("localhost/goes-d:latest", "two-d"), ("alias-d", "three-d")]
    {
        let app = format!("/home/ada/{name}");
        host.flake_ctl(&ADA, ["register", "--container", image, "--target", "/bin/busybox", "--app", &app])
            .check()?;
    }
    told(
        line(host, &ADA, "podman remove --container localhost/goes-d"),
        0,
        "/home/ada/one-d\n/home/ada/three-d\n/home/ada/two-d\n",
        "",
    )?;
    for name in ["one-d", "two-d", "three-d"] {
        absent(format!("/home/ada/{name}"))?;
        absent(format!("/home/ada/.config/flakes/{name}.yaml"))?;
    }
    ensure!(!host.podman(&ADA, ["image", "exists", "localhost/goes-d"]).run()?.success());
    refused(
        line(host, &ADA, "podman remove --container localhost/goes-d"),
        "flake-ctl: there is no image localhost/goes-d here, and nothing is registered of it\n\
         hint: flake-ctl list shows what is\n",
    )
}

fn in_use(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image { name: "used-d", files: &[("/5", "")], ..Image::BOX })?;
    // Podman knows of an instance that it has made.
    let words = "register --container localhost/used-d --target /bin/busybox --app /usr/local/bin/used-d \
                 --network private";
    silent(line(host, &ROOT, words))?;
    let mark = host.mark();
    let mut call = ROOT.command("/usr/local/bin/used-d");
    call.args(["sleep", &mark]);
    let running = flake_testkit::Conversation::new(Call::new(call).spawn()?);
    let shown =
        || line(host, &ROOT, "show --format csv").run().ok().filter(|shown| shown.out().contains("used-d"));
    flake_testkit::until("the instance", shown, String::new)?;
    let outcome = line(host, &ROOT, "remove --container localhost/used-d").run()?;
    let said = outcome.err();
    ensure!(
        outcome.code == Some(1)
            && said.starts_with("flake-ctl: image localhost/used-d is in use by ")
            && said.ends_with("\nhint: --force ends them\n"),
        "{outcome}"
    );
    ensure!(host.podman(&ROOT, ["image", "exists", "localhost/used-d"]).run()?.success());
    told(line(host, &ROOT, "remove --container localhost/used-d --force"), 0, "/usr/local/bin/used-d\n", "")?;
    flake_testkit::processes::until_gone(&mark)?;
    running.end()?;
    ensure!(!host.podman(&ROOT, ["image", "exists", "localhost/flake/used-d"]).run()?.success());
    Ok(())
}
