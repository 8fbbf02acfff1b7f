//! `make demo`: what the project is for, in a dozen commands that are shown as they run.

use crate::{build, odd_host, stage};
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// What is shown and run, in this order.
const STEPS: [&str; 8] = [
    "mkdir -p root/bin && cp /bin/busybox root/bin/busybox",
    "tar -C root -c . | podman import --quiet - localhost/flake-demo",
    "flake-ctl podman register --container localhost/flake-demo --app $PWD/bin/demo-seq --target /bin/busybox --share cwd",
    "flake-ctl podman register --container localhost/flake-demo --app $PWD/bin/demo-box --target /bin/busybox --share cwd",
    "demo-seq seq 1 1000 | demo-box sort -n -r | head -n 3",
    "demo-box sh -c 'echo an exit status is an exit status; exit 42'; echo $?",
    "demo-box touch made-inside; stat -c '%n belongs to %U' made-inside",
    "flake-ctl list",
];
/// Run at the end, whatever came before.
const CLEAN: &str = "flake-ctl podman remove --container localhost/flake-demo";

/// Shows it. Nothing is left but what was installed and built.
pub(crate) fn demo() -> Result<()> {
    let demo = Demo::prepare()?;
    let shown = STEPS.iter().try_for_each(|step| demo.show(step));
    let cleaned = demo.show(CLEAN);
    fs::remove_dir_all(&demo.folder).with_context(|| format!("cannot remove {}", demo.folder.display()))?;
    for folder in &demo.absent {
        // With something else in it, it stays.
        let _ = fs::remove_dir(folder);
    }
    shown.and(cleaned)
}

/// Folders that registering makes, the innermost first.
const FOLDERS: [&str; 9] = [
    "/usr/share/flakes/images",
    "/usr/share/flakes",
    "/var/lib/flakes/pins",
    "/var/lib/flakes/plans",
    "/var/lib/flakes",
    "~/.config/flakes",
    "~/.local/state/flakes/pins",
    "~/.local/state/flakes/plans",
    "~/.local/state/flakes",
];

struct Demo {
    folder: PathBuf,
    /// Folders that were not there before.
    absent: Vec<PathBuf>,
    envs: Vec<(&'static str, OsString)>,
}

impl Demo {
    fn prepare() -> Result<Self> {
        let prefix = build::target_dir().join("stage");
        stage::stage(&prefix)?;
        // Below the home: a folder of the system is not shared as the working directory.
        let home = env::var_os("HOME").map(PathBuf::from).context("HOME is not set")?;
        let folder = home.join(format!(".flake-demo-{}", std::process::id()));
        let places = FOLDERS.map(|folder| match folder.strip_prefix("~/") {
            Some(below) => home.join(below),
            None => PathBuf::from(folder),
        });
        let absent = places.into_iter().filter(|folder| !folder.exists()).collect();
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let folders = [folder.join("bin"), prefix.join("bin")];
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(folders.into_iter().chain(env::split_paths(&path)))?;
        let mut envs = vec![("PATH", path)];
        envs.extend(
            odd_host::containers_conf(&folder)?.map(|file| ("CONTAINERS_CONF", file.into_os_string())),
        );
        Ok(Self { folder, absent, envs })
    }

    #[expect(clippy::print_stdout, reason = "showing is what it is for")]
    fn show(&self, step: &str) -> Result<()> {
        println!("\n$ {step}");
        let status = Command::new("bash")
            .args(["-o", "pipefail", "-c", step])
            .current_dir(&self.folder)
            .envs(self.envs.iter().map(|(name, value)| (name, value)))
            .status()
            .context("cannot run bash")?;
        // A closed pipe ends the writer, here as natively.
        ensure!(status.success() || status.code() == Some(141), "{step}: {status}");
        Ok(())
    }
}
