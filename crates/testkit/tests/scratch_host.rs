//! Whether a scratch host keeps its promises: podman works in it for root and for users, and the machine
//! never notices.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, BOB, Call, Image, NOSUB, ROOT, ScratchHost, Subject, Suite, User, run, trial};

fn main() -> ExitCode {
    let trials = vec![
        trial("podman_works_for_root", |host| podman_works(host, &ROOT)),
        trial("podman_works_for_ada", |host| podman_works(host, &ADA)),
        trial("podman_works_for_bob", |host| podman_works(host, &BOB)),
        trial("root_has_a_private_network_to_give", private_network),
        trial("podman_refuses_a_user_without_subordinate_ids", no_subordinate_ids),
        trial("sudo_lets_ada_run_the_launcher_only", sudo),
        trial("every_image_can_be_made", images),
        trial("a_shell_in_a_terminal", terminal),
        trial("changes_stay_private", changes_stay_private),
    ];
    run(Suite { product: false, trials, last: vec![trial("nothing_runs_on", nothing_runs_on)] })
}

fn podman_works(host: &ScratchHost, user: &User) -> Result<()> {
    let image = host.image(user, &Image::BOX)?;
    let run = ["run", "--rm", "--network=none", &image, "/bin/busybox", "echo", "hello"];
    let outcome = host.podman(user, run).check()?;
    ensure!(outcome.out() == "hello\n" && outcome.err().is_empty(), "{outcome}");
    Ok(())
}

fn private_network(host: &ScratchHost) -> Result<()> {
    let image = host.image(&ROOT, &Image::BOX)?;
    let outcome =
        host.podman(&ROOT, ["run", "--rm", &image, "/bin/ip", "address", "show", "eth0"]).check()?;
    ensure!(outcome.out().contains("inet "), "{outcome}");
    Ok(())
}

fn no_subordinate_ids(host: &ScratchHost) -> Result<()> {
    let outcome = host.podman(&NOSUB, ["unshare", "cat", "/proc/self/uid_map"]).run()?;
    ensure!(!outcome.out().contains("65536"), "{outcome}");
    Ok(())
}

fn sudo(_: &ScratchHost) -> Result<()> {
    let listed = |user: &User| {
        let mut command = user.command("sudo");
        command.args(["-n", "-l"]);
        Call::new(command).run()
    };
    let (ada, bob) = (listed(&ADA)?, listed(&BOB)?);
    ensure!(ada.out().contains("NOPASSWD: /usr/bin/podman-pilot"), "{ada}");
    ensure!(ada.out().contains("use_pty"), "{ada}");
    ensure!(!bob.success(), "{bob}");
    let mut other = ADA.command("sudo");
    other.args(["-n", "id"]);
    let other = Call::new(other).run()?;
    ensure!(!other.success() && other.out().is_empty(), "{other}");
    Ok(())
}

fn images(host: &ScratchHost) -> Result<()> {
    let run = |image: &Image, words: &[&str]| -> Result<String> {
        let reference = host.image(&ROOT, image)?;
        let mut line = vec!["run", "--rm", "--network=none", &reference];
        line.extend(words);
        Ok(host.podman(&ROOT, line).check()?.out())
    };
    ensure!(run(&Image::ENTRY, &[])? == "<default>\n");
    ensure!(run(&Image::ENTRY, &["a b", "c"])? == "<a b>\n<c>\n");
    ensure!(run(&Image::SCRATCHY, &["/busybox", "echo", "one"])? == "one\n");
    ensure!(
        run(&Image::USERIMG, &["/bin/sh", "-c", "id -u; pwd; cat file"])? == "1000\n/place\nfrom the image\n"
    );
    ensure!(run(&Image::SHIPPED, &["/bin/cat", "/shipped.yaml"])?.contains("target_app_path"));
    Ok(())
}

fn terminal(_: &ScratchHost) -> Result<()> {
    let subject = Subject::control(&ADA);
    let terminal = subject.shell()?;
    terminal.resize(33, 77)?;
    terminal.send("stty size; whoami\n")?;
    terminal.expect("33 77\r\nada\r\n")?;
    terminal.expect("host> ")?;
    terminal.send("exit 9\n")?;
    let ended = terminal.end()?;
    ensure!(ended.code == Some(9), "{ended:?}");
    Ok(())
}

/// Changes of every kind that the tests make, none of which may reach the machine.
fn changes_stay_private(host: &ScratchHost) -> Result<()> {
    let name = format!("flake-testkit-{}", std::process::id());
    let dirs =
        ["/etc", "/etc/sudoers.d", "/usr/bin", "/usr/share", "/var/lib", "/home", "/root", "/run", "/tmp"];
    for dir in dirs {
        let path = Path::new(dir).join(&name);
        fs::write(&path, "x")?;
        let real = host.real(&path.to_string_lossy());
        ensure!(!real.exists(), "{} is on the machine", path.display());
        ensure!(path.exists(), "{} was not written", path.display());
    }
    for file in ["/etc/passwd", "/etc/group", "/etc/subuid", "/etc/subgid", "/etc/hosts"] {
        let (here, there) = (fs::read_to_string(file)?, fs::read_to_string(host.real(file))?);
        ensure!(here != there, "{file} is the machine's");
        ensure!(!there.contains("4242") && !there.contains("ada:"), "{file} of the machine knows ada");
        ensure!(fs::metadata(file)?.dev() != fs::metadata(host.real(file))?.dev(), "{file} is shared");
    }
    let refused = fs::write(host.real(&format!("/var/tmp/{name}")), "x");
    ensure!(refused.is_err(), "the machine's files can be written to");
    ensure!(fs::read_to_string("/proc/sys/kernel/hostname")?.trim() == "scratch");
    Ok(())
}

fn nothing_runs_on(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA, &BOB] {
        ensure!(host.containers(user)?.is_empty(), "{} has containers", user.name);
    }
    let names: Vec<_> = flake_testkit::processes::all().into_iter().map(|process| process.name).collect();
    ensure!(!names.iter().any(|name| name == "conmon" || name == "slirp4netns"), "{names:?}");
    Ok(())
}
