//! What each layer of an image adds to a launch. The images are archives as `docker save` writes them
//! (github.com/moby/docker-image-spec, "Combined Image JSON + Filesystem Changeset Format").

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use flake_testkit::{ROOT, ScratchHost};

use crate::direct::time;
use crate::launches::LAUNCHES;
use crate::pairs::in_turn;
use crate::table::figure;

const FEW: usize = 2;
const MANY: usize = 42;
/// What one layer may add, in microseconds.
const BAR: f64 = 10.0;

/// The difference between many and few, for each of those between.
pub(crate) fn each(host: &ScratchHost) -> Result<()> {
    let (few, many) = (flake(host, FEW)?, flake(host, MANY)?);
    let launch = |app: &Path| time(&ROOT, app, &["true"]);
    let pairs = in_turn(LAUNCHES, || launch(&many), || launch(&few))?;
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let layers = (MANY - FEW) as f64;
    let name = format!("one layer of {MANY} / of {FEW}, us");
    figure(&name, Some(&pairs), pairs.difference() * 1e6 / layers, BAR);
    Ok(())
}

/// A flake of an image with so many layers, registered by root.
fn flake(host: &ScratchHost, layers: usize) -> Result<PathBuf> {
    let name = format!("layers-{layers}");
    let folder = PathBuf::from("/tmp").join(&name);
    fs::create_dir_all(&folder)?;
    archive(&folder, &name, layers)?;
    let archive = folder.join("image.tar");
    host.podman(&ROOT, [Path::new("load"), Path::new("--quiet"), Path::new("-i"), &archive]).check()?;
    fs::remove_dir_all(&folder)?;
    let app = PathBuf::from("/usr/local/bin").join(&name);
    let image = format!("localhost/{name}:latest");
    let words = ["register", "--container", &image, "--target", "/bin/busybox", "--app"];
    host.flake_ctl(&ROOT, words.map(Path::new).into_iter().chain([app.as_path()])).check()?;
    Ok(app)
}

fn archive(folder: &Path, name: &str, layers: usize) -> Result<()> {
    let (mut files, mut sums) = (Vec::new(), Vec::new());
    for number in 0..layers {
        let tree = folder.join(format!("tree-{number}"));
        if number == 0 {
            fs::create_dir_all(tree.join("bin"))?;
            fs::copy("/bin/busybox", tree.join("bin/busybox"))?;
        } else {
            fs::create_dir_all(tree.join("layers"))?;
            fs::write(tree.join(format!("layers/{number}")), name)?;
        }
        let file = format!("{number}.tar");
        tar(&folder.join(&file), &tree, ".")?;
        sums.push(format!("\"sha256:{}\"", sha256(&folder.join(&file))?));
        files.push(format!("\"{file}\""));
    }
    let config = format!(
        "{{\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{{}},\
         \"rootfs\":{{\"type\":\"layers\",\"diff_ids\":[{}]}}}}",
        sums.join(",")
    );
    fs::write(folder.join("config.json"), config)?;
    let layers = files.join(",");
    let manifest = format!(
        "[{{\"Config\":\"config.json\",\"RepoTags\":[\"localhost/{name}:latest\"],\"Layers\":[{layers}]}}]"
    );
    fs::write(folder.join("manifest.json"), manifest)?;
    let image = folder.join("image.tar");
    let mut words: Vec<String> = files.iter().map(|file| file.trim_matches('"').to_owned()).collect();
    words.extend(["config.json".into(), "manifest.json".into()]);
    let status = Command::new("tar").arg("-C").arg(folder).arg("-cf").arg(&image).args(words).status()?;
    ensure!(status.success(), "tar: {status}");
    Ok(())
}

fn tar(file: &Path, folder: &Path, what: &str) -> Result<()> {
    let status = Command::new("tar")
        .arg("-C")
        .arg(folder)
        .arg("-cf")
        .arg(file)
        .args(["--numeric-owner", what])
        .status()?;
    ensure!(status.success(), "tar: {status}");
    Ok(())
}

fn sha256(file: &Path) -> Result<String> {
    let output = Command::new("sha256sum").arg("--").arg(file).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let sum = text.split(' ').next().unwrap_or_default().to_owned();
    ensure!(output.status.success() && sum.len() == 64, "sha256sum: {text}");
    Ok(sum)
}
