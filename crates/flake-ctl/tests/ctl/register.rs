//! What a registration writes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost};

use crate::Case;
use crate::told::{BOX, absent, holds, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("a_system_flake", system),
    ("a_users_flake", user),
    ("a_flake_that_runs_as_root", as_root),
    ("every_option_is_written", every_option),
    ("an_option_that_chooses_a_network", network_option),
    ("the_older_form_without_an_engine", older_form),
    ("what_is_shared_belongs_to_the_caller", shared),
    ("a_missing_folder_is_made", missing_folder),
    ("many_at_once", many),
];

fn mode(path: impl AsRef<Path>) -> Result<u32> {
    Ok(fs::symlink_metadata(path)?.permissions().mode() & 0o7777)
}

fn system(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    // A tight mask must not lock users out.
    let mut command = ROOT.command("/bin/sh");
    command
        .args(["-c", r#"umask 077; exec flake-ctl "$@""#, "sh"])
        .args(BOX)
        .args(["--app", "/usr/local/sys/sys-a"]);
    told(Call::new(command), 0, "", "note: /usr/local/sys is not on your PATH\n")?;
    holds(
        "/usr/share/flakes/sys-a.yaml",
        "type: immutable\n\
         container:\n  name: localhost/box\n  target_app_path: /bin/busybox\n  host_app_path: /usr/local/sys/sys-a\n  \
         runtime:\n    runas: caller\n    network: host\n",
    )?;
    let archive = "/usr/share/flakes/images/sys-a.oci.tar";
    ensure!(fs::read_link("/usr/local/sys/sys-a")? == Path::new("/usr/bin/podman-pilot"));
    ensure!((mode("/usr/share/flakes/sys-a.yaml")?, mode(archive)?) == (0o644, 0o644));
    for folder in
        ["/usr/local/sys", "/usr/share/flakes", "/usr/share/flakes/images", "/usr/share/flakes/sys-a.d"]
    {
        ensure!(mode(folder)? == 0o755, "{folder}");
    }
    // What everybody imports is named after the flake.
    let mut load = ADA.command("/usr/bin/podman");
    load.args(["load", "--quiet", "--input", archive]);
    let loaded = Call::new(load).check()?.out();
    ensure!(loaded.contains("localhost/flake/sys-a:latest"), "{loaded}");
    silent(line(host, &ROOT, "podman remove --app /usr/local/sys/sys-a"))
}

fn user(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    told(
        host.flake_ctl(&ADA, BOX.iter().chain(&["--app", "/home/ada/bin/own-a"])),
        0,
        "",
        "note: /home/ada/bin is not on your PATH\n",
    )?;
    holds(
        "/home/ada/.config/flakes/own-a.yaml",
        "type: immutable\n\
         container:\n  name: localhost/box\n  target_app_path: /bin/busybox\n  \
         host_app_path: /home/ada/bin/own-a\n  runtime:\n    runas: caller\n    network: host\n",
    )?;
    ensure!(mode("/home/ada/.config/flakes")? == 0o700 && mode("/home/ada/bin")? == 0o755);
    ensure!(!host.podman(&ADA, ["image", "exists", "localhost/flake/own-a"]).run()?.success());
    silent(host.flake_ctl(&ADA, ["podman", "--user", "remove", "--app", "/home/ada/bin/own-a"]))
}

fn as_root(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let words = BOX.iter().chain(&["--app", "/usr/local/bin/root-a", "--run-as", "root"]);
    let note = "note: it has a private network; the host's own starts faster: --network host\n";
    told(host.flake_ctl(&ROOT, words.clone()), 0, "", note)?;
    let text = fs::read_to_string("/usr/share/flakes/root-a.yaml")?;
    ensure!(text.ends_with("    runas: root\n    network: private\n"), "{text}");
    absent("/usr/share/flakes/images/root-a.oci.tar")?;
    silent(host.flake_ctl(&ROOT, words.chain(&["--force", "--network", "host"])))?;
    silent(line(host, &ROOT, "remove --app /usr/local/bin/root-a"))?;
    refused(
        host.flake_ctl(&ADA, BOX.iter().chain(&["--app", "/home/ada/root-a", "--run-as", "root"])),
        "flake-ctl: only root can register a command that runs as root\n\
         hint: sudo flake-ctl podman register --run-as root ...\n",
    )
}

const ALL: &str = "\
type: mutable
instance: both
hostsystem:
  - openssh
include:
  tar:
    - /home/ada/a.tar
  path:
    - /etc
container:
  name: localhost/box
  target_app_path: /bin/busybox
  host_app_path: /home/ada/all-a
  base_container: localhost/box
  check_host_dependencies: true
  layers:
    - localhost/box
    - localhost/box
  runtime:
    runas: caller
    resume: true
    podman:
      - --volume /a:/b
      - --volume /a:/c d
      - --privileged
    network: none
    share:
      - home:ro
      - /etc
    env:
      - LANG
      - A_*
      - B=
    workdir: /srv
";

fn every_option(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    let tar = ADA.home().join("a.tar");
    fs::write(&tar, "")?;
    let mut words: Vec<&str> = BOX.to_vec();
    words.extend(
        "--app /home/ada/all-a --base localhost/box --layer localhost/box --layer localhost/box".split(' '),
    );
    words.extend(
        "--check_host_dependencies --hostsystem openssh --include-tar a.tar --include-path /etc".split(' '),
    );
    words.extend(
        "--resume --network none --share home:ro --share /etc --env LANG --env A_* --env B=".split(' '),
    );
    words.extend("--workdir /srv --as-image --run-as caller --instance both".split(' '));
    words.extend(["--opt", r"\--volume /a:/b", "--opt", "--volume /a:/c d", "--opt", r"\--privileged"]);
    told(
        host.flake_ctl(&ADA, words),
        0,
        "",
        "note: calling it needs composition (base_container, layers, include, hostsystem, \
         check_host_dependencies), which this release does not have yet\nnote: /home/ada is not on your PATH\n",
    )?;
    holds("/home/ada/.config/flakes/all-a.yaml", ALL)?;
    silent(line(host, &ADA, "remove --app /home/ada/all-a"))
}

fn network_option(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    for (option, network) in [("--net=none", ""), ("--publish 8080:80", "    network: private\n")] {
        let more = ["--app", "/home/ada/net-a", "--force", "--opt", option];
        host.flake_ctl(&ADA, BOX.iter().chain(&more)).check()?;
        let text = fs::read_to_string("/home/ada/.config/flakes/net-a.yaml")?;
        let end = format!("    podman:\n      - {option}\n{network}");
        ensure!(text.ends_with(&end), "{text}");
    }
    silent(line(host, &ADA, "remove --app /home/ada/net-a"))?;
    refused(
        host.flake_ctl(
            &ADA,
            BOX.iter().chain(&["--app", "/home/ada/net-a", "--opt", r"\--network x", "--network", "none"]),
        ),
        "flake-ctl: both --network and an --opt choose a network, one may\n",
    )
}

/// As old as `oci-ctl register`, which knew no engine but podman.
fn older_form(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let mut command = ROOT.command("/usr/bin/oci-ctl");
    command.args(
        "register --container localhost/box --app /usr/local/bin/joe-a --base localhost/box".split(' '),
    );
    let outcome = Call::new(command).check()?;
    ensure!(outcome.err().starts_with("note: calling it needs composition"), "{outcome}");
    let text = fs::read_to_string("/usr/share/flakes/joe-a.yaml")?;
    ensure!(text.contains("base_container: localhost/box\n") && !text.contains("target_app_path"), "{text}");
    let mut command = ROOT.command("/usr/bin/oci-register");
    command.args("remove --app /usr/local/bin/joe-a".split(' '));
    silent(Call::new(command))
}

fn shared(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    for (options, end) in [
        ("--share cwd", "    share:\n      - cwd\n    user: caller\n"),
        ("--share cwd --as-image", "    share:\n      - cwd\n"),
        ("--as-caller", "    network: host\n    user: caller\n"),
    ] {
        let words =
            BOX.iter().copied().chain(["--app", "/home/ada/share-a", "--force"]).chain(options.split(' '));
        host.flake_ctl(&ADA, words).check()?;
        let text = fs::read_to_string("/home/ada/.config/flakes/share-a.yaml")?;
        ensure!(text.ends_with(end), "{options}: {text}");
    }
    silent(line(host, &ADA, "remove --app /home/ada/share-a"))
}

fn missing_folder(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    let app = "/home/ada/not/there/yet/made-a";
    host.flake_ctl(&ADA, BOX.iter().chain(&["--app", app])).check()?;
    ensure!(mode("/home/ada/not/there/yet")? == 0o755);
    silent(host.flake_ctl(&ADA, ["remove", "--app", app]))?;
    // A registration that fails takes back what it made.
    let words = ["register", "--container", "localhost/none", "--app", "/home/ada/other/made-a"];
    refused(
        host.flake_ctl(&ADA, words),
        "flake-ctl: there is no image localhost/none here\nhint: flake-ctl podman pull --uri localhost/none\n",
    )?;
    absent("/home/ada/other")
}

/// Each waits for its turn; of those that want one name, one gets it.
fn many(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    let script = format!(
        "for i in 1 2 3 4 5 6; do flake-ctl {0} --app ~/many-$i & flake-ctl {0} --app ~/many-same & done; wait",
        BOX.join(" ")
    );
    let mut command = ADA.command("/bin/bash");
    command.args(["-c", &script]);
    let said = Call::new(command).check()?.err();
    let refusals =
        said.matches("flake-ctl: many-same is registered already, as /home/ada/many-same\n").count();
    ensure!(refusals == 5 && said.matches("flake-ctl:").count() == 5, "{said}");
    for name in ["1", "2", "3", "4", "5", "6", "same"] {
        silent(host.flake_ctl(&ADA, ["remove", "--app", &format!("/home/ada/many-{name}")]))?;
    }
    Ok(())
}
