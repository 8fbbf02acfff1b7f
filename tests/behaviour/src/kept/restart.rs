//! What the host loses: everything in memory at a restart, a note, a container.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Image, processes};
use nix::sys::signal::Signal;

use super::ground::{Case, Ground, shell};

pub(super) const CASES: &[Case] = &[
    ("sockets_and_tmp_are_wiped", wiped),
    ("a_restart_of_the_host", restart),
    ("the_note_is_gone", note),
    ("the_note_is_gone_and_it_does_not_run", note_stopped),
    ("the_note_is_damaged", damaged),
    ("the_container_is_gone", container),
    ("the_container_is_another", another),
    ("the_socket_is_gone_while_it_is_used", socket),
];

const WIPE: &str = "rm -rf /run/flakes /run/user/*/flakes /tmp/* /tmp/.[!.]*";

fn wiped(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    flake.podman(&["stop", "--time", "0", &flake.container()])?;
    shell(WIPE)?;
    flake.heals()
}

/// All processes of podman are gone without a word, with all mounts, and all that was in memory.
fn restart(ground: &Ground<'_>) -> Result<()> {
    const HELPERS: [&str; 6] = ["conmon", "podman-init", "init", "sci", "catatonit", "podman pause"];
    let flake = ground.flake()?;
    flake.begin()?;
    let id = flake.noted()?.id;
    for process in processes::all() {
        if process.pid > 1 && HELPERS.contains(&process.name.as_str()) {
            processes::kill(process.pid, Signal::SIGKILL);
        }
    }
    shell(
        "for at in $(cut -d ' ' -f 5 /proc/self/mountinfo | grep /containers/storage/ | sort -r); do
            umount -l \"$at\" || :
        done
        rm -rf /run/libpod /run/containers /run/runc /run/crun /run/netns /run/user/*/* /dev/shm/*",
    )?;
    shell(WIPE)?;
    flake.has_data()?;
    ensure!(flake.noted()?.id == id, "it is another one");
    flake.is_one()?;
    flake.remove()?;
    ensure!(flake.containers()?.is_empty());
    Ok(())
}

fn note(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    fs::remove_file(flake.note())?;
    flake.heals()
}

fn note_stopped(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    flake.podman(&["kill", &flake.container()])?;
    fs::remove_file(flake.note())?;
    flake.heals()
}

/// A crash of the host can leave a file of any content.
fn damaged(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    for text in ["", "half", "\0\0\0\0\n\0\n", "a\nb\n/nowhere\n", "a\nb\n/etc/passwd\n"] {
        fs::write(flake.note(), text)?;
        flake.has_data().with_context(|| format!("{text:?}"))?;
        flake.is_one().with_context(|| format!("{text:?}"))?;
    }
    ensure!(Path::new("/etc/passwd").exists(), "what a note named was removed");
    flake.end()
}

fn container(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let first = flake.noted()?;
    flake.podman(&["rm", "--force", "--time", "0", &flake.container()])?;
    flake.prints(&["sh", "-c", "test ! -e /data"], "")?;
    ensure!(flake.noted()?.id != first.id);
    flake.is_one()?;
    flake.end()
}

/// Somebody has made one of the same name meanwhile: theirs is not ours to change.
fn another(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let image = ground.host.image(flake.way.store, &Image::BOX)?;
    let name = flake.container();
    flake.podman(&["rm", "--force", "--time", "0", &name])?;
    flake.podman(&["run", "--detach", "--network", "host", "--name", &name, &image, "sleep", "1000"])?;
    let outcome = flake.call(&["echo", "word"]).run()?;
    flake.failed(&outcome, &name)?;
    ensure!(flake.podman_says("{{.State.Status}}")? == "running", "it was ended");
    flake.podman(&["rm", "--force", "--time", "0", &name])?;
    flake.works()?;
    flake.end()
}

/// What runs there is not ended for the sake of another call.
fn socket(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let mark = flake.host.mark();
    let mut running = flake.call(&["sh", "-c", &format!("echo up; sleep {mark}")]).spawn()?;
    let mut line = [0; 3];
    let out = running.stdout.as_mut().context("no pipe")?;
    std::io::Read::read_exact(out, &mut line)?;
    fs::remove_file(flake.noted()?.socket)?;
    let outcome = flake.call(&["echo", "word"]).run()?;
    flake.failed(&outcome, "its socket is gone")?;
    ensure!(running.try_wait()?.is_none(), "the first call was ended");
    processes::kill(running.id(), Signal::SIGTERM);
    running.wait()?;
    flake.heals()
}
