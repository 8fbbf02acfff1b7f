//! Kept instances go with the last command that could call them, when that is wanted.

use std::fs;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Image, ScratchHost};

use crate::Case;
use crate::instances::keeping;
use crate::kept::Made;
use crate::told::{absent, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("a_command_does_not_go_while_instances_are_kept", with_command),
    ("shared_instances_go_with_the_last_command", shared),
    ("an_image_does_not_go_while_instances_are_kept", with_image),
];

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
