//! Standard input in all its kinds.

use std::fs::File;
use std::process::Stdio;

use anyhow::{Result, ensure};

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "stdin_piped", run: piped },
    Case { name: "stdin_from_a_file", run: file },
    Case { name: "stdin_empty", run: |scene| silent(scene, r#"true | "$APP" wc -c"#) },
    Case { name: "stdin_closed", run: closed },
    Case { name: "stdin_from_dev_null", run: null },
    Case { name: "stdin_is_read_no_further_than_the_app_does", run: shared_offset },
    Case { name: "stdin_left_open_does_not_keep_the_app", run: left_open },
];

fn piped(scene: &Scene<'_>) -> Result<()> {
    let outcome =
        scene.same(|subject| Ok(subject.call(&["cat"]).input("one\ntwo\0\nno newline").run()?))?;
    ensure!(outcome.success() && outcome.stdout == b"one\ntwo\0\nno newline", "{outcome}");
    Ok(())
}

fn file(scene: &Scene<'_>) -> Result<()> {
    let path = scene.file(b"from a file\n")?;
    let outcome = scene.same(|subject| Ok(subject.call(&["cat"]).stdin(File::open(&path)?).run()?))?;
    ensure!(outcome.success() && outcome.stdout == b"from a file\n", "{outcome}");
    Ok(())
}

fn silent(scene: &Scene<'_>, script: &str) -> Result<()> {
    let outcome = scene.same_script(script)?;
    ensure!(outcome.success() && outcome.out().trim() == "0", "{outcome}");
    Ok(())
}

fn closed(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_script(r#""$APP" cat <&-"#)?;
    ensure!(!outcome.success() && outcome.err().contains("Bad file descriptor"), "{outcome}");
    Ok(())
}

fn null(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same(|subject| Ok(subject.call(&["wc", "-c"]).stdin(Stdio::null()).run()?))?;
    ensure!(outcome.success() && outcome.out().trim() == "0", "{outcome}");
    Ok(())
}

/// As in `{ read -r first; cat; } < file`: what the app leaves is there for the next command.
fn shared_offset(scene: &Scene<'_>) -> Result<()> {
    let path = scene.file(b"first\nsecond\nthird\n")?;
    let script = format!(r#"{{ "$APP" sh -c 'read -r x; echo "app: $x"'; cat; }} <{}"#, path.display());
    let outcome = scene.same_script(&script)?;
    ensure!(outcome.out() == "app: first\nsecond\nthird\n", "{outcome}");
    Ok(())
}

/// The other end of the pipe stays open and silent; the app does not care and ends.
fn left_open(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let (reader, writer) = std::io::pipe()?;
        let outcome = subject.call(&["echo", "done"]).stdin(reader).run()?;
        drop(writer);
        Ok(outcome)
    })?;
    Ok(())
}
