//! The README's tour, taken by a user who has nothing yet.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use flake_testkit::{ADA, ScratchHost, Suite, run, trial};
use flake_tour::{fits, steps};

/// Built in: a scratch host need not show the folder of the checkout.
const README: &str = include_str!("../../../README.md");
/// Shown before each command's output, in a form that no command prints.
const MARK: &str = "\u{1}step ";

fn main() -> ExitCode {
    run(Suite { product: true, trials: vec![trial("readme", readme)], last: Vec::new() })
}

fn readme(_: &'static ScratchHost) -> Result<()> {
    let steps = steps(README);
    ensure!(steps.len() > 10, "the tour has only {} steps", steps.len());
    // One shell, as a reader has it.
    let script: String = steps
        .iter()
        .enumerate()
        .map(|(index, step)| format!("echo '{MARK}{index}'\n{}\n", step.command))
        .collect();
    fs::write(ADA.home().join(".profile"), "")?;
    let mut bash = ADA.command("/usr/bin/bash");
    let tour = format!("exec 2>&1; cd ~; mkdir -p work && cd work; PATH=~/bin:$PATH\n{script}");
    let output = bash.args(["-c", &tour]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let mut printed = text.split(MARK).skip(1);
    for step in &steps {
        let (_, lines) =
            printed.next().and_then(|part| part.split_once('\n')).context("the shell ended early")?;
        let lines: Vec<&str> = lines.lines().collect();
        let is_said = lines.len() == step.lines.len()
            && lines.iter().zip(&step.lines).all(|(line, pattern)| fits(line, pattern));
        ensure!(
            is_said,
            "$ {}\nprints\n{}\nand not\n{}",
            step.command,
            lines.join("\n"),
            step.lines.join("\n")
        );
    }
    Ok(())
}
