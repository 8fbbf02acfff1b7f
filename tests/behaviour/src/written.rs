//! What is in a root before the application starts: the same as under podman.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost, User, trial};
use libtest_mimic::Trial;

use crate::RootDisk;

/// Who registers and who calls.
const WAYS: [(&str, &User, &User); 3] =
    [("rootful", &ROOT, &ROOT), ("rootless", &ADA, &ADA), ("system", &ROOT, &ADA)];

/// An image with files where podman mounts its own, and links on the way to others.
const RESOLVED: Image = Image {
    name: "resolved-written",
    files: &[("/etc/hosts", "of the image\n"), ("/data/file", "of the image\n")],
    files_owner: 7,
    links: &[("/etc/resolv.conf", "../run/resolved/stub.conf"), ("/var/run", "../run")],
    changes: &[],
    ..Image::BOX
};
/// What podman makes for such an image is the image's own.
const MADE: Image = Image {
    name: "made-written",
    files: &[
        ("/etc/hosts", "of the image\n"),
        ("/etc/hostname", "of the image\n"),
        ("/etc/resolv.conf", "of the image\n"),
        ("/run/.containerenv", "of the image\n"),
    ],
    links: &[("/etc/mtab", "nowhere")],
    ..Image::BOX
};

/// A user and a folder to start in that is not there.
const USED: Image = Image { name: "used-written", changes: &["USER 1000", "WORKDIR /e/f"], ..Image::USERIMG };

/// A flake's name, its image and podman's options.
const CASES: [(&str, &Image, &[&str]); 8] = [
    ("plain", &Image::BOX, &[]),
    ("one_program_only", &Image::SCRATCHY, &[]),
    ("links", &RESOLVED, &[]),
    ("files", &MADE, &[]),
    ("read_only", &Image::BOX, &["--read-only"]),
    ("stranger", &Image::BOX, &["--user=1234:1234"]),
    ("mount_points", &USED, &["--tmpfs=/a/b", "--tmpfs=/place:size=1m", "--volume=/srv:/place/c/d"]),
    ("own_hosts", &Image::BOX, &["--add-host=there:192.0.2.1", "--dns=192.0.2.2", "--hostname=called"]),
];
/// Those of users alone: the ids inside are not the ones outside.
const USERS_CASES: [(&str, &Image, &[&str]); 3] = [
    ("keep_id", &Image::BOX, &["--userns=keep-id"]),
    ("keep_id_links", &RESOLVED, &["--userns=keep-id", "--user=0:0"]),
    ("own_ids", &Image::BOX, &["--uidmap=0:1:1000", "--uidmap=1000:0:1"]),
];

/// Tells what is there, and whether it can be written to. Its name is that of busybox.
const LOOK: &str = "\
for path in / /* /etc/* /run/* /run/*/* /run/.[a-z]* /place /place/* /e/* /a/*; do
  case $path in *[*]*) continue; esac
  $0 stat -c '%n %F %a %u:%g' $path
done
$0 readlink /etc/mtab
for file in hosts hostname resolv.conf passwd group; do echo $file; $0 cat /etc/$file; done
$0 sed 's/^.*id=.*$//' /run/.containerenv
pwd; echo $HOME
for file in /etc/hosts /etc/hostname /etc/resolv.conf /new /run/new; do
  if echo more 2>/dev/null >>$file; then echo $file takes it; $0 tail -n1 $file; else echo $file does not; fi
done
exit 0
";

/// For all trials, until the host ends.
static ROOT_DISK: OnceLock<Result<RootDisk, String>> = OnceLock::new();

/// All of them, for each way.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let of_way = |(way, owner, caller): (&'static str, &'static User, &'static User)| {
        let users: &[_] = if caller.id == 0 { &[] } else { &USERS_CASES };
        CASES.iter().chain(users).map(move |&(name, image, options)| {
            trial(format!("{way}::{name}"), move |host| {
                let flake = (format!("{way}-{name}"), image, options);
                same_as_under_podman(host, owner, caller, &flake)
            })
        })
    };
    WAYS.into_iter().flat_map(of_way).collect()
}

fn same_as_under_podman(
    host: &ScratchHost,
    owner: &User,
    caller: &User,
    (name, image, options): &(String, &Image, &[&str]),
) -> Result<()> {
    let busybox = if image.system { "/bin/busybox" } else { "/busybox" };
    let registered: Vec<_> = options.iter().flat_map(|option| ["--opt", option]).collect();
    let app = host.register(owner, (name, image, busybox), &registered)?;
    let reference = host.image(caller, image)?;
    let mut podman = caller.command("/usr/bin/podman");
    podman.args(["run", "--rm", "--network=host", "--http-proxy=false", "--log-driver=passthrough"]);
    podman.args(*options).args(["--entrypoint", busybox]).arg(reference);
    let expected = look(podman, busybox)?;
    ensure!(expected.lines().count() > 20, "{expected}");
    // The first call of somebody else's flake sets it up.
    look(caller.command(&app), busybox)?;
    is_same(host, caller, &app, (busybox, &expected))?;
    if caller.id == 0 {
        let mounted = ROOT_DISK.get_or_init(|| RootDisk::mounted(host).map_err(|error| format!("{error:#}")));
        ensure!(mounted.is_ok(), "{mounted:?}");
    }
    let registered = [vec!["--scratch", "disk"], registered].concat();
    let app = host.register(owner, (&format!("{name}-disk"), image, busybox), &registered)?;
    look(caller.command(&app), busybox)?;
    is_same(host, caller, &app, (busybox, &expected)).context("on disk")
}

fn is_same(host: &ScratchHost, caller: &User, app: &Path, (busybox, expected): (&str, &str)) -> Result<()> {
    let found = look(caller.command(app), busybox)?;
    ensure!(expected == found, "under podman, and not:\n{}", differences(expected, &found));
    is_straight(host, caller, app)
}

fn look(mut command: Command, busybox: &str) -> Result<String> {
    command.args(["sh", "-c", LOOK, busybox]);
    Ok(Call::new(command).check()?.out())
}

/// The lines that only one of them has.
fn differences(expected: &str, found: &str) -> String {
    let of = |mark: char, text: &str, other: &str| {
        let lines = text.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    format!("{}{}", of('-', expected, found), of('+', found, expected))
}

fn is_straight(host: &ScratchHost, caller: &User, app: &Path) -> Result<()> {
    let name = app.file_name().unwrap_or_default().to_string_lossy();
    let plan = host.flake_ctl(caller, ["plan", &name]).check()?.out();
    ensure!(plan.contains("way: runner\n"), "{plan}");
    Ok(())
}
