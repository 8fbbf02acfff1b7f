//! What is wrong: each of these fails.

use std::fs::{self, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, BOB, Call};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};

use super::environment::Trap;
use super::forge::{self, handoff, privileged, with_rights_of};
use super::{Case, Ground, call, refused, works};

pub(super) const CASES: &[Case] = &[
    ("finding_place_of_a_socket_of_root", |ground| {
        let path = ground.directory()?.join("socket");
        let _listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        by_place(ground, &path)
    }),
    ("finding_place_of_a_fifo_of_root", |ground| {
        let path = ground.directory()?.join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        by_place(ground, &path)
    }),
    ("finding_place_of_a_character_device", |ground| by_place(ground, Path::new("/dev/console"))),
    ("finding_fifo_of_root_is_written_by_place", fifo_written),
    ("finding_cwd_removed_with_a_link_of_its_new_name", namesake),
    ("finding_cwd_of_another_mount_namespace", namespace),
    ("finding_which_files_there_are", oracle),
];

pub(super) const ALONE: &[Case] = &[
    ("finding_settings_that_everybody_can_write", |ground| {
        let app = ground.flake("settings-flake", &[])?;
        fs::write("/etc/flakes.yml", "generic:\n  podman_storage_conf: /etc/containers/storage.conf\n")?;
        works(&call(&ADA, &app, &["echo", "word"])?)?;
        fs::set_permissions("/etc/flakes.yml", Permissions::from_mode(0o666))?;
        let outcome = call(&ADA, &app, &["echo", "word"]);
        fs::remove_file("/etc/flakes.yml")?;
        refused(&outcome?, "/etc/flakes.yml")
    }),
    ("finding_settings_of_somebody_else_run_their_program_as_root", |ground| {
        let app = ground.flake("settings-flake", &[])?;
        let trap = Trap::set(ground)?;
        let conf = trap.program.with_file_name("storage.conf");
        fs::write("/etc/flakes.yml", format!("generic:\n  podman_storage_conf: {}\n", conf.display()))?;
        chown("/etc/flakes.yml", Some(BOB.id), Some(BOB.id))?;
        let outcome = call(&ADA, &app, &["echo", "word"]);
        fs::remove_file("/etc/flakes.yml")?;
        trap.untouched()?;
        refused(&outcome?, "/etc/flakes.yml")
    }),
    ("finding_storage_conf_of_somebody_else", |ground| {
        let app = ground.flake("settings-flake", &[])?;
        let trap = Trap::set(ground)?;
        let conf = trap.program.with_file_name("storage.conf");
        chown(&conf, Some(BOB.id), Some(BOB.id))?;
        fs::write("/etc/flakes.yml", format!("generic:\n  podman_storage_conf: {}\n", conf.display()))?;
        let outcome = call(&ADA, &app, &["echo", "word"]);
        fs::remove_file("/etc/flakes.yml")?;
        trap.untouched()?;
        refused(&outcome?, "storage.conf")
    }),
    ("finding_directory_of_flakes_that_everybody_can_write", |ground| {
        let app = ground.flake("settings-flake", &[])?;
        fs::set_permissions("/usr/share/flakes", Permissions::from_mode(0o777))?;
        let outcome = call(&ADA, &app, &["echo", "word"]);
        fs::set_permissions("/usr/share/flakes", Permissions::from_mode(0o755))?;
        refused(&outcome?, "/usr/share/flakes")
    }),
    ("finding_directory_of_flakes_of_somebody_else", |ground| {
        let app = ground.flake("settings-flake", &[])?;
        chown("/usr/share/flakes", Some(BOB.id), Some(BOB.id))?;
        let outcome = call(&ADA, &app, &["echo", "word"]);
        chown("/usr/share/flakes", Some(0), Some(0))?;
        refused(&outcome?, "/usr/share/flakes")
    }),
    ("finding_sudo_without_secure_path", |ground| {
        lax(ground, "Defaults:ada !secure_path", |here| {
            vec![("PATH", format!("{here}:/usr/sbin:/usr/bin:/sbin:/bin"))]
        })
    }),
    ("finding_sudo_without_env_reset_storage", |ground| {
        lax(ground, "Defaults:ada !env_reset", |here| {
            vec![("CONTAINERS_STORAGE_CONF", format!("{here}/storage.conf"))]
        })
    }),
    ("finding_sudo_without_env_reset_conf", |ground| {
        lax(ground, "Defaults:ada !env_reset", |here| {
            vec![("CONTAINERS_CONF", format!("{here}/containers.conf"))]
        })
    }),
];

fn place(path: &Path) -> Result<OwnedFd> {
    open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).with_context(|| path.display().to_string())
}

fn by_place(ground: &Ground<'_>, path: &Path) -> Result<()> {
    let name = "placed";
    ground.flake(name, &[])?;
    let owned = path.to_owned();
    let place = with_rights_of(&ADA, move || place(&owned))?;
    forge::call(ground.host, name, &["true"], &handoff(1), &[place])?.refused("passed")
}

fn fifo_written(ground: &Ground<'_>) -> Result<()> {
    let path = ground.directory()?.join("fifo");
    mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
    let mut reader = fs::OpenOptions::new().read(true).write(true).open(&path)?;
    let owned = path.clone();
    let place = with_rights_of(&ADA, move || place(&owned))?;
    let name = "placed";
    ground.flake(name, &[])?;
    let words = ["sh", "-c", "echo written >/proc/self/fd/0"];
    let answer = forge::call(ground.host, name, &words, &handoff(1), &[place])?;
    let _ = answer.session();
    rustix::io::ioctl_fionbio(&reader, true)?;
    let mut said = [0; 100];
    let n = std::io::Read::read(&mut reader, &mut said).unwrap_or(0);
    ensure!(
        n == 0,
        "root inside wrote {:?} to a fifo of root that ada cannot open",
        said[..n].escape_ascii().to_string()
    );
    Ok(())
}

/// What `ls` says in the shared directory.
fn listed(ground: &Ground<'_>, name: &'static str, dir: OwnedFd) -> Result<String> {
    ground.flake(name, &["--share", "cwd", "--as-image"])?;
    let (mut reader, writer) = std::io::pipe()?;
    let mut handoff = handoff(2);
    handoff.has_cwd = true;
    let null = fs::File::open("/dev/null")?;
    let words = ["sh", "-c", "pwd; ls -a; cat secret; echo x >written"];
    let answer = forge::call(ground.host, name, &words, &handoff, &[null.into(), writer.into(), dir])?;
    let _ = answer.session();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut reader, &mut said)?;
    Ok(said)
}

fn namesake(ground: &Ground<'_>) -> Result<()> {
    let secret = ground.directory()?;
    fs::write(secret.join("secret"), "the secret\n")?;
    chown(&secret, Some(0), Some(0))?;
    fs::set_permissions(&secret, Permissions::from_mode(0o700))?;
    let dir = ground.directory()?.join("work");
    let aim = secret.clone();
    let place = with_rights_of(&ADA, move || {
        fs::create_dir(&dir)?;
        let place = place(&dir)?;
        fs::remove_dir(&dir)?;
        symlink(&aim, format!("{} (deleted)", dir.display()))?;
        Ok(place)
    })?;
    let said = listed(ground, "attacked-removed", place)?;
    ensure!(!said.contains("the secret") && !secret.join("written").exists(), "{said}");
    Ok(())
}

fn namespace(ground: &Ground<'_>) -> Result<()> {
    fs::write("/home/bob/secret", "the secret\n")?;
    let mut command = ADA.command("/usr/bin/unshare");
    let script = "mount -t tmpfs none /home/bob && echo ready && exec sleep 60";
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let pid = child.id();
    let mut line = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().context("no pipe")?, &mut line)
        .context("no namespace")?;
    let place = place(Path::new(&format!("/proc/{pid}/root/home/bob")));
    let said = listed(ground, "attacked-namespace", place?);
    child.kill()?;
    child.wait()?;
    let said = said?;
    let written = fs::remove_file("/home/bob/written").is_ok();
    ensure!(!said.contains("the secret") && !written, "written: {written}, {said}");
    Ok(())
}

fn oracle(ground: &Ground<'_>) -> Result<()> {
    ground.flake("attacked", &[])?;
    fs::write("/root/there", "")?;
    let there = privileged("attacked", Path::new("/root/there"), &["true"]).run()?;
    let not_there = privileged("attacked", Path::new("/root/not-there"), &["true"]).run()?;
    ensure!(there == not_there, "{there}\n{not_there}");
    Ok(())
}

fn lax(ground: &Ground<'_>, rule: &str, variables: fn(&str) -> Vec<(&'static str, String)>) -> Result<()> {
    let app = ground.flake("lax", &[])?;
    let trap = Trap::set(ground)?;
    fs::write("/etc/sudoers.d/lax", format!("{rule}\n"))?;
    fs::set_permissions("/etc/sudoers.d/lax", Permissions::from_mode(0o440))?;
    let here = trap.program.parent().context("no parent")?.to_string_lossy().into_owned();
    let mut command = ADA.command(app);
    command.args(["echo", "word"]).envs(variables(&here));
    let outcome = Call::new(command).run();
    fs::remove_file("/etc/sudoers.d/lax")?;
    trap.untouched()?;
    works(&outcome?)
}
