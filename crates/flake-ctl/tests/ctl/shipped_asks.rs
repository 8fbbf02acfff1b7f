//! What an image asks for is given only by a yes.

use std::fs;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Image, ScratchHost, Subject};

use crate::Case;
use crate::told::{absent, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("without_a_terminal_wishes_are_refused", refusal),
    ("yes_and_no_at_the_terminal", asked),
    ("an_interrupted_question_leaves_nothing", interrupted),
];

const WISHES: &str = "\
container:
  target_app_path: /bin/busybox
  host_app_path: /usr/bin/wishes
  runtime:
    share: [cwd, '/etc:ro']
    env: [AWS_*]
";
const IMAGE: Image = Image { name: "wishes", files: &[("/wishes.yaml", WISHES)], ..Image::BOX };
const ASKS: &str = "image localhost/wishes asks for --share cwd --share /etc:ro --env AWS_*";
const PATH: &str = "note: /home/ada is not on your PATH\n";

fn refusal(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &IMAGE)?;
    let words = "register --container localhost/wishes --app /home/ada/wish-a";
    refused(
        line(host, &ADA, words),
        &format!(
            "flake-ctl: {ASKS}\n\
             hint: --yes allows it, --share and --env say what is wanted instead, --no-shipped registers without\n"
        ),
    )?;
    absent("/home/ada/wish-a")?;
    absent("/home/ada/.config/flakes/wish-a.yaml")?;
    let granted = |words: &str, end: &str| -> Result<()> {
        told(line(host, &ADA, words), 0, "", PATH)?;
        let text = fs::read_to_string("/home/ada/.config/flakes/wish-a.yaml")?;
        ensure!(text.ends_with(end), "{text}");
        silent(line(host, &ADA, "remove --app /home/ada/wish-a"))
    };
    granted(
        &format!("{words} --yes"),
        "    share:\n      - cwd\n      - /etc:ro\n    env:\n      - AWS_*\n    user: caller\n",
    )?;
    granted(
        &format!("{words} --share home --env LANG"),
        "    share:\n      - home\n    env:\n      - LANG\n    user: caller\n",
    )
}

fn asked(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &IMAGE)?;
    let subject = Subject::control(&ADA);
    for (answer, is_granted) in [("y\n", true), ("yes\n", true), ("n\n", false), ("\n", false)] {
        let script = "flake-ctl register --container localhost/wishes --app ~/wish-b";
        let terminal = subject.terminal(script)?;
        terminal.expect(&format!("{ASKS}. Allow it? [y/N] "))?;
        terminal.send(answer)?;
        let ended = terminal.end()?;
        ensure!(ended.code == Some(0), "{ended:?}");
        let text = fs::read_to_string("/home/ada/.config/flakes/wish-b.yaml")?;
        ensure!(text.contains("- AWS_*") == is_granted && text.contains("- cwd") == is_granted, "{text}");
        silent(line(host, &ADA, "remove --app /home/ada/wish-b"))?;
    }
    // The name is asked for first, the wishes after it.
    let terminal = subject.terminal("flake-ctl register --container localhost/wishes")?;
    terminal
        .expect("image localhost/wishes proposes /home/ada/.local/bin/wishes. Register it there? [y/N] ")?;
    terminal.send("no\n")?;
    terminal.expect("flake-ctl: nothing was registered\r\nhint: name the command: --app PATH\r\n")?;
    ensure!(terminal.end()?.code == Some(1));
    absent("/home/ada/.config/flakes/wishes.yaml")
}

fn interrupted(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &IMAGE)?;
    let script = "flake-ctl register --container localhost/wishes --app ~/wish-c; echo status $?";
    let terminal = Subject::control(&ADA).terminal(&format!("trap : INT; {script}"))?;
    terminal.expect("Allow it? [y/N] ")?;
    terminal.send("\u{3}")?;
    terminal.expect("status 130\r\n")?;
    terminal.end()?;
    absent("/home/ada/wish-c")?;
    absent("/home/ada/.config/flakes/wish-c.yaml")
}
