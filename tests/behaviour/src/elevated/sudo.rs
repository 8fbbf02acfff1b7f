//! What sudo refuses, and what it asks.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, BOB, Call, Image, NOSUB, ROOT, Subject, processes};
use nix::sys::signal::Signal;

use super::{Case, Ground, call, refused};

pub(super) const CASES: &[Case] = &[
    ("a_path_without_sudo", |ground| {
        let mut command = ADA.command(ground.flake(REFUSED, &[])?);
        command.args(["echo", "word"]).env("PATH", "/nowhere");
        refused(&Call::new(command).run()?, "sudo")?;
        ground.nothing_ran(REFUSED)
    }),
    ("a_user_whom_sudo_does_not_know", |ground| {
        let outcome = call(&BOB, &ground.flake(REFUSED, &[])?, &["echo", "word"])?;
        refused(&outcome, "needs sudo, which refused")?;
        ensure!(outcome.err().contains("sudo /usr/bin/podman-pilot refused-by-sudo"), "{outcome}");
        no_sockets(&runtime_dir(BOB.id))?;
        ground.nothing_ran(REFUSED)
    }),
    ("a_user_who_registers_a_flake_of_root", |ground| {
        let image = ground.host.image(&BOB, &Image::BOX)?;
        let app = "/home/bob/bin/of-root";
        let words = ["podman", "register", "--container", &image, "--target", "/bin/busybox", "--app", app];
        let outcome = ground.host.flake_ctl(&BOB, words.iter().chain(&["--run-as", "root"])).run()?;
        ensure!(!outcome.success() && outcome.err().contains("root"), "{outcome}");
        ensure!(fs::symlink_metadata(app).is_err(), "the link was made");
        ensure!(!Path::new("/home/bob/.config/flakes/of-root.yaml").exists(), "it was registered");
        Ok(())
    }),
];

/// Alone: they change the rules of sudo.
pub(super) const ALONE: &[Case] = &[
    ("a_password_without_a_terminal", |ground| {
        let app = ground.flake(REFUSED, &[])?;
        let _rule = Rule::with_password()?;
        refused(&call(&NOSUB, &app, &["echo", "word"])?, "needs sudo, which refused")?;
        no_sockets(&runtime_dir(NOSUB.id))?;
        ground.nothing_ran(REFUSED)
    }),
    ("ctrl_c_while_sudo_waits_for_a_password", |ground| {
        asked(ground, r#"exec "$APP" echo word"#, (None, Some(2)))
    }),
    ("ctrl_c_while_sudo_waits_for_a_password_under_a_shell", |ground| {
        asked(ground, r#""$APP" echo word; true"#, (None, Some(2)))
    }),
    ("sudo_that_is_stopped_alone_stops_the_job", stopped_alone),
];

const REFUSED: &str = "refused-by-sudo";

/// "At once", on a machine that has other things to do.
const AT_ONCE: Duration = Duration::from_secs(5);

fn runtime_dir(id: u32) -> PathBuf {
    PathBuf::from(format!("/run/user/{id}/flakes"))
}

fn no_sockets(dir: &Path) -> Result<()> {
    let left: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

/// A rule that lets a user do it who has no password, after asking for one.
struct Rule;

const FILE: &str = "/etc/sudoers.d/with-password";

impl Rule {
    fn with_password() -> Result<Self> {
        fs::write(FILE, format!("{} ALL=(root) PASSWD: /usr/bin/podman-pilot\n", NOSUB.name))?;
        fs::set_permissions(FILE, Permissions::from_mode(0o440))?;
        let mut check = ROOT.command("/usr/sbin/visudo");
        check.arg("--check");
        Call::new(check).check()?;
        Ok(Self)
    }
}

impl Drop for Rule {
    fn drop(&mut self) {
        let _ = fs::remove_file(FILE);
    }
}

fn asked(ground: &Ground<'_>, script: &str, expected: (Option<i32>, Option<i32>)) -> Result<()> {
    let app = ground.flake(REFUSED, &[])?;
    let _rule = Rule::with_password()?;
    let subject = Subject { app, ..Subject::control(&NOSUB) };
    let terminal = subject.terminal(script)?;
    terminal.expect("assword")?;
    // A signal between sudo's question and its reading of the answer is lost in sudo itself.
    thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    terminal.send("\x03")?;
    let ended = terminal.end()?;
    ensure!((ended.code, ended.signal) == expected, "{ended:?}");
    ensure!(start.elapsed() < AT_ONCE, "took {:?}", start.elapsed());
    processes::until_gone(REFUSED)?;
    no_sockets(&runtime_dir(NOSUB.id))?;
    ground.nothing_ran(REFUSED)
}

/// Sudo may stop itself when the job has been continued already.
fn stopped_alone(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake(REFUSED, &[])?;
    let _rule = Rule::with_password()?;
    let subject = Subject { app, ..Subject::control(&NOSUB) };
    let terminal = subject.terminal("set -m; \"$APP\" echo word; echo \"status $?\"; fg")?;
    terminal.expect("assword")?;
    let sudo = processes::marked(REFUSED).into_iter().find(|one| one.name == "sudo");
    processes::kill(sudo.context("no sudo")?.pid, Signal::SIGSTOP);
    terminal.expect("status 148")?;
    thread::sleep(Duration::from_millis(300));
    terminal.send("\x03")?;
    let ended = terminal.end()?;
    ensure!((ended.code, ended.signal) == (Some(130), None), "{ended:?}");
    processes::until_gone(REFUSED)?;
    ground.nothing_ran(REFUSED)
}
