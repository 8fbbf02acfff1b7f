//! What the owner changes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("an_edited_registration", edited),
    ("a_layer_of_the_registration", layer),
    ("a_volume_that_became_another", volume),
];

/// The network namespace of a process.
const NETWORK: &str = "readlink /proc/self/ns/net";

fn edited(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let hosts = fs::read_link("/proc/self/ns/net")?.display().to_string();
    ensure!(flake.prints(NETWORK)? == hosts);
    let text = fs::read_to_string(&flake.file)?;
    let other = text.replace("network: host", "network: none");
    ensure!(text != other, "{text}");
    flake.is_planned_anew("another network", || Ok(fs::write(&flake.file, &other)?))?;
    ensure!(flake.prints(NETWORK)? != hosts);
    flake.is_planned_anew("and back", || Ok(fs::write(&flake.file, &text)?))?;
    ensure!(flake.prints(NETWORK)? == hosts);
    // Written anew with what was in it, as editors do.
    flake.is_planned_anew("the same text", || {
        let draft = flake.file.with_extension("draft");
        fs::write(&draft, &text)?;
        Ok(fs::rename(&draft, &flake.file)?)
    })
}

fn layer(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let folder = flake.file.with_extension("d");
    fs::create_dir_all(&folder)?;
    let layer = folder.join("50-network.yaml");
    let hosts = flake.prints(NETWORK)?;
    let write = |network: &str| {
        let text = format!("container:\n  runtime:\n    network: {network}\n");
        fs::write(&layer, text).context("write a layer")
    };
    flake.is_planned_anew("a layer is new", || write("none"))?;
    ensure!(flake.prints(NETWORK)? != hosts);
    flake.is_planned_anew("it was changed", || write("host"))?;
    ensure!(flake.prints(NETWORK)? == hosts);
    flake.is_planned_anew("it is gone", || Ok(fs::remove_file(&layer)?))?;
    ensure!(flake.prints(NETWORK)? == hosts);
    flake.is_planned_anew("the folder is gone", || Ok(fs::remove_dir(&folder)?))
}

/// A file, then a folder, then nothing.
fn volume(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let source = Path::new("/srv").join(&flake.name);
    fs::write(&source, "content\n")?;
    let folder = flake.file.with_extension("d");
    fs::create_dir_all(&folder)?;
    let text = format!("container:\n  runtime:\n    podman: ['--volume {}:/data']\n", source.display());
    fs::write(folder.join("50-volume.yaml"), text)?;
    ensure!(flake.prints("cat /data")? == "content");
    let into_folder = || {
        fs::remove_file(&source)?;
        fs::create_dir(&source)?;
        fs::set_permissions(&source, fs::Permissions::from_mode(0o755))?;
        Ok(fs::write(source.join("file"), "")?)
    };
    flake.is_planned_anew("it is a folder", into_folder)?;
    ensure!(flake.prints("ls /data")? == "file");
    fs::remove_dir_all(&source)?;
    let outcome = flake.echo()?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("no such file"), "{outcome}");
    fs::write(&source, "again\n")?;
    ensure!(flake.prints("cat /data")? == "again");
    Ok(fs::remove_file(&source)?)
}
