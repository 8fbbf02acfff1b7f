//! A user's own folders, settings and store.

use std::fs;
use std::os::unix::fs::chown;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost};

use crate::Case;
use crate::told::{holds, line, refused, silent, told};

pub(crate) const CASES: &[Case] =
    &[("init_is_for_users", refusals), ("init_makes_a_place_to_work_in", works)];

fn refusals(host: &ScratchHost) -> Result<()> {
    let root = "flake-ctl: root has no user's folders, the system's are there without setting up\n\
                hint: call it as a normal user: flake-ctl init --user\n";
    refused(line(host, &ROOT, "init --user"), root)?;
    refused(line(host, &ROOT, "init"), root)?;
    refused(
        line(host, &ADA, "init"),
        "flake-ctl: only a user's folders can be set up\nhint: flake-ctl init --user\n",
    )
}

/// From nothing to a call, in a home of its own.
fn works(host: &ScratchHost) -> Result<()> {
    let home = "/home/ada/fresh";
    fs::create_dir(home)?;
    chown(home, Some(ADA.id), Some(ADA.id))?;
    let at_home = |program: &str, words: &str| {
        let mut command = ADA.command(program);
        command.args(words.split(' ')).env("HOME", home);
        Call::new(command)
    };
    let config = format!("{home}/.config");
    let export = format!("export CONTAINERS_STORAGE_CONF={config}/flakes/podman/storage.conf\n");
    let paths = ["flakes", "flakes/podman", "flakes/firecracker", "flakes.yml", "flakes/podman/storage.conf"];
    let lines = |words: [&str; 5]| -> String {
        paths.iter().zip(words).map(|(path, word)| format!("{word}: {config}/{path}\n")).collect()
    };
    told(at_home("/usr/bin/flake-ctl", "init --user"), 0, &export, &lines(["made"; 5]))?;
    told(at_home("/usr/bin/flake-ctl", "init --user"), 0, &export, &lines(["kept"; 5]))?;
    let anew = ["kept", "kept", "kept", "written anew", "written anew"];
    told(at_home("/usr/bin/flake-ctl", "init --user --force"), 0, &export, &lines(anew))?;
    holds(
        format!("{config}/flakes.yml"),
        &format!(
            "generic:\n  flakes_dir: {config}/flakes\n  podman_ids_dir: /tmp/flakes\n  \
             firecracker_ids_dir: /tmp/flakes\n  podman_storage_conf: {config}/flakes/podman/storage.conf\n"
        ),
    )?;
    host.image(&ADA, &Image::BOX)?;
    host.podman(&ADA, ["save", "--quiet", "--output", "/home/ada/fresh/box.tar", "localhost/box"]).check()?;
    at_home("/usr/bin/flake-ctl", "load --oci /home/ada/fresh/box.tar").check()?;
    ensure!(fs::exists(format!("{config}/flakes/podman/storage/overlay-images"))?);
    let app = format!("{home}/box");
    let words = format!("register --container localhost/box --target /bin/busybox --app {app}");
    at_home("/usr/bin/flake-ctl", &words).check()?;
    told(at_home(&app, "echo in a store of its own"), 0, "in a store of its own\n", "")?;
    silent(at_home("/usr/bin/flake-ctl", &format!("remove --app {app}")))
}
