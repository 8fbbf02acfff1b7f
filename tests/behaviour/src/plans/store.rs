//! Podman's configuration, and another store.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use flake_testkit::Call;

use super::ground::{Case, Flake, Ground, refused, works};

pub(super) const CASES: &[Case] = &[
    ("another_store", store),
    ("another_configuration", configuration),
    ("a_configuration_of_the_users_own", users_own),
];

/// A folder of the caller's, where an overlay can be: root's home is on one.
fn folder(ground: &Ground<'_>) -> Result<PathBuf> {
    let caller = ground.way.caller;
    let folder = PathBuf::from(format!("/tmp/store-{}", ground.host.mark()));
    fs::create_dir(&folder)?;
    chown(&folder, Some(caller.id), Some(caller.id))?;
    Ok(folder)
}

/// Root's by a file, a user's by the folder of the user's data: there podman goes by what its database says.
fn store(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake_with_image()?;
    let folder = folder(ground)?;
    let conf = folder.join("storage.conf");
    let path = folder.display();
    fs::write(
        &conf,
        format!("[storage]\ndriver = \"overlay\"\nrunroot = \"{path}/run\"\ngraphroot = \"{path}/graph\"\n"),
    )?;
    let choose = |command: &mut Command| {
        match ground.way.caller.id {
            0 => command.env("CONTAINERS_STORAGE_CONF", &conf),
            _ => command.env("XDG_DATA_HOME", &folder),
        };
    };
    let podman = |words: &[&str]| {
        let mut podman = ground.way.caller.command("/usr/bin/podman");
        podman.args(words);
        choose(&mut podman);
        Call::new(podman)
    };
    let is_shared = ground.way.owner.id != ground.way.caller.id;
    if !is_shared {
        // The image is not there.
        let mut command = flake.command(&["echo", "word"]);
        choose(&mut command);
        refused(&Call::new(command).run()?, &flake.image)?;
        let archive = folder.join("image.tar");
        let archive = archive.to_str().unwrap_or_default();
        ground.host.podman(ground.way.owner, ["save", "--quiet", "-o", archive, &flake.image]).check()?;
        podman(&["load", "--quiet", "-i", archive]).check()?;
    }
    flake.is_planned_anew_by("the image is there", || Ok(()), choose)?;
    // The old store is still what it was.
    flake.is_planned_anew("the store is the old one", || Ok(()))?;
    flake.is_planned_anew_by("the other one again", || Ok(()), choose)?;
    podman(&["rmi", "--all", "--force"]).check()?;
    if is_shared {
        flake.is_planned_anew_by("the image is gone from it", || Ok(()), choose)?;
    }
    works(&flake.echo()?)?;
    remove(ground, &folder)
}

/// What is in a store may belong to the user's other ids.
fn remove(ground: &Ground<'_>, folder: &Path) -> Result<()> {
    let words = ["unshare", "rm", "-rf", &folder.display().to_string()];
    if ground.way.caller.id != 0 {
        let _ = ground.host.podman(ground.way.caller, words).run()?;
    }
    if folder.exists() { Ok(fs::remove_dir_all(folder)?) } else { Ok(()) }
}

const LIMIT: &str = "ulimit -n";
const CAPABILITIES: &str = "grep CapBnd /proc/self/status";

fn configuration(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let folder = folder(ground)?;
    let conf = folder.join("containers.conf");
    let choose = |command: &mut Command| {
        command.env("CONTAINERS_CONF", &conf);
    };
    changes(&flake, &conf, &choose)?;
    flake.is_planned_anew("the variable is gone", || Ok(()))?;
    Ok(fs::remove_dir_all(folder)?)
}

fn changes(flake: &Flake<'_>, conf: &Path, choose: &dyn Fn(&mut Command)) -> Result<()> {
    let prints = |script: &str| -> Result<String> {
        let mut command = flake.command(&["sh", "-c", script]);
        choose(&mut command);
        Ok(Call::new(command).check()?.out().trim().to_owned())
    };
    let write = |containers: &str| -> Result<()> { Ok(fs::write(conf, with_containers(containers)?)?) };
    for limit in ["700", "600"] {
        let text = format!("default_ulimits = [\"nofile={limit}:{limit}\", \"nproc=1024:1024\"]");
        flake.is_planned_anew_by(&text, || write(&text), choose)?;
        let found = prints(LIMIT)?;
        ensure!(found == limit, "{found} instead of {limit}");
    }
    let limits = "default_ulimits = [\"nofile=600:600\", \"nproc=1024:1024\"]";
    for (capabilities, set) in
        [("\"CHOWN\"", "0000000000000001"), ("\"CHOWN\", \"KILL\"", "0000000000000021")]
    {
        let text = format!("{limits}\ndefault_capabilities = [{capabilities}]");
        flake.is_planned_anew_by(&text, || write(&text), choose)?;
        let found = prints(CAPABILITIES)?;
        ensure!(found.ends_with(set), "{found} instead of {set}");
    }
    Ok(())
}

/// The host's own configuration with other containers: a file that is named replaces all of it.
fn with_containers(text: &str) -> Result<String> {
    let hosts = fs::read_to_string("/etc/containers/containers.conf")?;
    let others = hosts.split("\n[engine]").nth(1).map(|rest| format!("\n[engine]{rest}"));
    let others = others.unwrap_or_else(|| hosts.clone());
    Ok(format!("[containers]\n{text}\n{others}"))
}

/// In the user's own `.config`, or root's in /etc by a file in a folder; it is there from now on.
fn users_own(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let folder = folder(ground)?;
    let (config, conf) = (folder.join("config"), folder.join("config/containers/containers.conf"));
    // The registrations are in the folder as well.
    let flakes = ground.way.caller.home().join(".config/flakes");
    fs::create_dir_all(conf.parent().unwrap_or(&folder))?;
    let choose = |command: &mut Command| {
        command.env("XDG_CONFIG_HOME", &config);
    };
    ensure!(flakes.exists() || ground.way.owner.id == 0);
    fs::write(&conf, "")?;
    flake.is_planned_anew_by("another place", || Ok(()), choose)?;
    flake.is_planned_anew_by(
        "a limit",
        || Ok(fs::write(&conf, "[containers]\ndefault_ulimits = [\"nofile=500:500\", \"nproc=900:900\"]\n")?),
        choose,
    )?;
    let mut command = flake.command(&["sh", "-c", LIMIT]);
    choose(&mut command);
    let found = Call::new(command).check()?;
    // Root has no file of its own.
    ensure!(ground.way.caller.id == 0 || found.out().trim() == "500", "{found}");
    works(&flake.echo()?)?;
    Ok(fs::remove_dir_all(folder)?)
}
