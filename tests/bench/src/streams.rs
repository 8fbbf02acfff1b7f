//! What it takes to write a lot.

use anyhow::{Result, ensure};
use flake_testkit::Subject;

use crate::pairs::{in_turn, timed};
use crate::table::ratio;

/// Rounds of a gibibyte.
const GIBIBYTES: usize = 5;
const GIBIBYTE: &str = "1073741824";

/// A gibibyte of zeros into a pipe that is read.
pub(crate) fn gibibyte(way: &str, subject: &Subject) -> Result<()> {
    let control = Subject::control(subject.user);
    let pairs = in_turn(GIBIBYTES, || timed(|| one(subject)), || timed(|| one(&control)))?;
    ratio(&format!("1 GiB to a pipe, {way} / native"), &pairs, 1.1);
    Ok(())
}

fn one(subject: &Subject) -> Result<()> {
    let script = format!("\"$APP\" head -c {GIBIBYTE} /dev/zero | wc -c");
    let output = subject.script(&script).output()?;
    ensure!(output.stdout.trim_ascii() == GIBIBYTE.as_bytes(), "{output:?}");
    Ok(())
}
