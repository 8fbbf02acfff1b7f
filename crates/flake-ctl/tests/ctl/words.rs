//! The verbs that need no podman.

use std::fs;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost};

use crate::Case;
use crate::told::{line, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("help_lists_the_engines_and_their_verbs", help),
    ("validate_says_everything", validate),
    ("completions_are_scripts", completions),
    ("manual_pages_can_be_read", man),
    ("a_closed_pipe_is_no_failure", closed_pipe),
];

fn help(host: &ScratchHost) -> Result<()> {
    let whole = line(host, &ADA, "--help").check()?.out();
    for word in
        ["podman", "stop", "rm", "logs", "attach", "cp", "list", "init", "validate", "completions", "man"]
    {
        ensure!(whole.contains(&format!("\n  {word} ")), "{word}: {whole}");
    }
    let podman = line(host, &ADA, "podman --help").check()?.out();
    for word in ["pull", "load", "register", "remove", "ps"] {
        ensure!(podman.contains(&format!("\n  {word} ")), "{word}: {podman}");
    }
    told(line(host, &ADA, "--version"), 0, &format!("flake-ctl {}\n", env!("CARGO_PKG_VERSION")), "")?;
    told(
        line(host, &ADA, "qemu list"),
        2,
        "",
        "error: unrecognized subcommand 'qemu'\n\nUsage: flake-ctl <COMMAND>\n\n\
         For more information, try '--help'.\n",
    )
}

fn validate(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    let words =
        "register --container localhost/box --target /bin/sh --app /usr/local/bin/val-g --base localhost/box";
    line(host, &ROOT, words).check()?;
    let part = "note: calling it needs composition (base_container, layers, include, hostsystem, \
                check_host_dependencies), which this release does not have yet\n";
    told(line(host, &ADA, "validate val-g"), 0, "/usr/share/flakes/val-g.yaml: valid\n", part)?;
    fs::write("/usr/share/flakes/val-g.d/1.yaml", "container:\n  runtime: {nework: none}\n")?;
    let outcome = line(host, &ADA, "validate /usr/share/flakes/val-g.yaml").run()?;
    let said = outcome.err();
    ensure!(outcome.code == Some(1) && outcome.stdout.is_empty(), "{outcome}");
    let first = "/usr/share/flakes/val-g.d/1.yaml:2:13: unknown key `nework` in `container.runtime`\n  \
                 2 |   runtime: {nework: none}\n    |             ^^^^^^\nhint: did you mean `network`?\n";
    ensure!(said == first, "{said}");
    let rules = "container:\n  host_app_path: joe\n  runtime: {resume: true, attach: true}\n";
    fs::write("/usr/share/flakes/val-g.d/1.yaml", rules)?;
    let said = line(host, &ADA, "validate val-g").run()?.err();
    ensure!(said.contains("1.yaml:2:3: ") && said.contains("1.yaml:3:27: "), "not all that is wrong: {said}");
    silent(line(host, &ROOT, "remove --app /usr/local/bin/val-g --force"))?;
    told(
        line(host, &ADA, "validate nobody"),
        1,
        "",
        "flake-ctl: no flake is registered as nobody; see: flake-ctl list\n",
    )?;
    told(line(host, &ADA, "validate ./none.yaml"), 1, "", "./none.yaml: there is no such file\n")?;
    fs::write("/home/ada/flakes.yml", "instances-per-user: 3\n")?;
    told(line(host, &ADA, "validate flakes.yml"), 0, "flakes.yml: valid\n", "")?;
    fs::write("/home/ada/flakes.yml", "instances-per-usr: 3\n")?;
    let outcome = line(host, &ADA, "validate flakes.yml").run()?;
    ensure!(outcome.err().starts_with("flakes.yml:1:1: unknown key `instances-per-usr`"), "{outcome}");
    Ok(())
}

fn completions(host: &ScratchHost) -> Result<()> {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = line(host, &ADA, &format!("completions {shell}")).check()?.out();
        ensure!(script.contains("no-shipped"), "{shell}: {script}");
    }
    let mut command = ADA.command("/bin/bash");
    let script = "source <(flake-ctl completions bash) && COMP_WORDS=(flake-ctl podman reg) COMP_CWORD=2 && \
                  _flake__ctl flake-ctl reg podman && echo ${COMPREPLY[@]}";
    command.args(["-c", script]);
    told(Call::new(command), 0, "register\n", "")
}

fn man(host: &ScratchHost) -> Result<()> {
    silent(line(host, &ADA, "man /home/ada/man/man1"))?;
    let mut pages: Vec<_> = fs::read_dir("/home/ada/man/man1")?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    pages.sort();
    for page in ["flake-ctl.1", "flake-ctl-podman-register.1", "flake-ctl-list.1", "flake-pilot.1", "flake.5"]
    {
        ensure!(pages.iter().any(|found| found == page), "{page}: {pages:?}");
    }
    ensure!(pages.iter().all(|page| !page.starts_with('.')), "{pages:?}");
    let outcome = line(host, &ADA, "man /proc/none").run()?;
    ensure!(
        outcome.code == Some(1) && outcome.err().starts_with("flake-ctl: cannot write to /proc/none: "),
        "{outcome}"
    );
    Ok(())
}

fn closed_pipe(_: &ScratchHost) -> Result<()> {
    for words in ["list --user", "completions bash", "--help", "podman register --help"] {
        let mut command = ADA.command("/bin/bash");
        // The reader is gone before anything is written.
        let script = format!("{{ sleep 0.2; flake-ctl {words}; echo $? >&2; }} | true");
        command.args(["-c", &script]);
        told(Call::new(command), 0, "", "0\n")?;
    }
    Ok(())
}
