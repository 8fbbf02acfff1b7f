//! Files that decide what runs as root, and that others than root can change.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, BOB};

use super::{Case, Ground, call, refused, works};

const FLAKES: &str = "/usr/share/flakes";

pub(super) const CASES: &[Case] = &[
    ("a_flake_file_that_everybody_can_write", |ground| {
        spoilt(ground, "spoilt-mode", |file, _| mode(file, 0o666), "spoilt-mode.yaml")
    }),
    ("a_flake_file_that_a_group_can_write", |ground| {
        spoilt(ground, "spoilt-group", |file, _| mode(file, 0o664), "spoilt-group.yaml")
    }),
    ("a_flake_file_of_the_caller", |ground| {
        spoilt(ground, "spoilt-owner", |file, _| owner(file), "spoilt-owner.yaml")
    }),
    ("a_flake_file_that_is_a_link_to_one_of_somebody_else", |ground| {
        let aim = ground.directory()?.join("aim.yaml");
        let link = |file: &Path, _: &Path| {
            fs::copy(file, &aim)?;
            chown(&aim, Some(BOB.id), Some(BOB.id))?;
            fs::remove_file(file)?;
            Ok(symlink(&aim, file)?)
        };
        spoilt(ground, "spoilt-link", link, "spoilt-link.yaml")
    }),
    ("a_layer_that_everybody_can_write", |ground| {
        let change = |_: &Path, layer: &Path| mode(layer, 0o646);
        spoilt(ground, "spoilt-layer", change, "10-layer.yaml")
    }),
    ("a_layer_of_the_caller", |ground| {
        spoilt(ground, "spoilt-layer-owner", |_, layer| owner(layer), "10-layer.yaml")
    }),
    ("a_directory_of_layers_that_everybody_can_write", |ground| {
        let change = |_: &Path, layer: &Path| mode(parent(layer), 0o777);
        spoilt(ground, "spoilt-dir", change, "spoilt-dir.d")
    }),
    ("a_directory_of_layers_of_the_caller", |ground| {
        spoilt(ground, "spoilt-dir-owner", |_, layer| owner(parent(layer)), "spoilt-dir-owner.d")
    }),
];

/// Alone, since every call of a flake looks at these.
pub(super) const ALONE: &[Case] = &[];

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

fn mode(path: &Path, mode: u32) -> Result<()> {
    Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
}

fn owner(path: &Path) -> Result<()> {
    Ok(chown(path, Some(ADA.id), Some(ADA.id))?)
}

/// A flake with a layer whose files are changed is refused for that; without the change it works.
fn spoilt(
    ground: &Ground<'_>,
    name: &'static str,
    change: impl Fn(&Path, &Path) -> Result<()>,
    named: &str,
) -> Result<()> {
    let app = ground.flake(name, &[])?;
    let file = Path::new(FLAKES).join(format!("{name}.yaml"));
    let dir = file.with_extension("d");
    fs::create_dir_all(&dir)?;
    mode(&dir, 0o755)?;
    let layer = dir.join("10-layer.yaml");
    fs::write(&layer, "container:\n  runtime:\n    env: [LAYER=yes]\n")?;
    change(&file, &layer)?;
    let outcome = call(&ADA, &app, &["echo", "word"])?;
    refused(&outcome, named)?;
    ensure!(outcome.err().contains("can be changed by others than root"), "{outcome}");
    ground.nothing_ran(name)?;
    // As the message says.
    for path in [&file, &dir, &layer] {
        chown(path, Some(0), Some(0))?;
        mode(path, if path == &dir { 0o755 } else { 0o644 })?;
    }
    works(&call(&ADA, &app, &["echo", "word"])?)
}
