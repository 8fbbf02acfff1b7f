//! Replacing what is there, and putting it back when that fails.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::{Image, ROOT, ScratchHost};

use crate::Case;
use crate::files::State;
use crate::told::{BOX, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("force_replaces_a_file", file),
    ("a_failed_force_puts_everything_back", failed),
    ("force_takes_the_layers_with_it", layers),
    ("force_moves_a_command", moved),
];

fn file(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    fs::write("/usr/local/bin/over-c", "#!/bin/sh\n")?;
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/bin/over-c", "--force"])))?;
    ensure!(fs::read_link("/usr/local/bin/over-c")? == Path::new("/usr/bin/podman-pilot"));
    let left: Vec<_> = fs::read_dir("/usr/local/bin")?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.starts_with(".over-c"))
        .collect();
    ensure!(left.is_empty(), "{left:?}");
    silent(line(host, &ROOT, "remove --app /usr/local/bin/over-c"))
}

/// A layer that makes nonsense of the new registration is found out only when everything else is in its place.
fn failed(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    host.image(&ROOT, &Image::ENTRY)?;
    let path = Path::new("/usr/local/bin/back-c");
    // First where only a file stands.
    fs::write(path, "#!/bin/sh\necho theirs\n")?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o751))?;
    fs::create_dir_all("/usr/share/flakes/back-c.d")?;
    fs::write("/usr/share/flakes/back-c.d/typo.yaml", "typ: mutable\n")?;
    let (before, inode) = (State::of("back-c", path, host)?, fs::metadata(path)?.ino());
    let outcome =
        host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/bin/back-c", "--force"])).run()?;
    let said = "flake-ctl: /usr/share/flakes/back-c.d/typo.yaml:1:1: unknown key `typ`\n";
    ensure!(outcome.code == Some(1) && outcome.err().starts_with(said), "{outcome}");
    before.is_still("back-c", path, host)?;
    ensure!(fs::metadata(path)?.ino() == inode);

    // Then where a registration stands.
    fs::write("/usr/share/flakes/back-c.d/typo.yaml", "type: immutable\n")?;
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/bin/back-c", "--force"])))?;
    let before = State::of("back-c", path, host)?;
    let script = "mount --bind /usr/local /usr/local && mount -o remount,bind,ro /usr/local && exec flake-ctl \
                  register --container localhost/entry --target / --app /usr/local/bin/back-c --force";
    refused(
        crate::files::private(script),
        "flake-ctl: cannot make /usr/local/bin/back-c: read-only file system\n",
    )?;
    before.is_still("back-c", path, host)?;
    silent(line(host, &ROOT, "remove --app /usr/local/bin/back-c"))
}

fn layers(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let words = BOX.iter().chain(&["--app", "/usr/local/bin/lay-c"]);
    silent(host.flake_ctl(&ROOT, words.clone()))?;
    fs::write("/usr/share/flakes/lay-c.d/10.yaml", "container: {target_app_path: /bin/sh}\n")?;
    told(
        host.flake_ctl(&ROOT, words.chain(&["--force"])),
        0,
        "",
        "note: gone with the replaced registration: /usr/share/flakes/lay-c.d/10.yaml\n",
    )?;
    ensure!(fs::read_dir("/usr/share/flakes/lay-c.d")?.next().is_none());
    silent(line(host, &ROOT, "remove --app /usr/local/bin/lay-c"))
}

fn moved(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/bin/move-c"])))?;
    refused(
        host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/sbin/move-c"])),
        "flake-ctl: move-c is registered already, as /usr/local/bin/move-c\n\
         hint: --force replaces it; it goes by: flake-ctl podman remove --app /usr/local/bin/move-c\n",
    )?;
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/sbin/move-c", "--force"])))?;
    crate::told::absent("/usr/local/bin/move-c")?;
    refused(
        line(host, &ROOT, "remove --app /usr/local/bin/move-c"),
        "flake-ctl: move-c is registered as /usr/local/sbin/move-c, not as /usr/local/bin/move-c\n\
         hint: flake-ctl podman remove --app /usr/local/sbin/move-c\n",
    )?;
    silent(line(host, &ROOT, "remove --app /usr/local/sbin/move-c"))
}
