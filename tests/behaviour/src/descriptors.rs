//! Descriptors beyond the three.

use anyhow::{Result, ensure};

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "process_substitution_to_read", run: to_read },
    Case { name: "process_substitution_to_write", run: to_write },
    Case { name: "process_substitution_twice", run: twice },
    Case { name: "a_file_as_dev_fd", run: file },
];

fn to_read(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_script(r#""$APP" cat <(echo one; echo two)"#)?;
    ensure!(outcome.out() == "one\ntwo\n", "{outcome}");
    Ok(())
}

/// bash does not wait for the process behind the pipe, so the script does.
fn to_write(scene: &Scene<'_>) -> Result<()> {
    let script = r#"exec 3>&1; echo word | "$APP" tee >(sed s/^/copy:/ >&3) >/dev/null; wait $!; "#;
    let outcome = scene.same_script(script)?;
    ensure!(outcome.out() == "copy:word\n", "{outcome}");
    Ok(())
}

fn twice(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_script(r#""$APP" paste <(seq 3) <(seq 4 6)"#)?;
    ensure!(outcome.out() == "1\t4\n2\t5\n3\t6\n", "{outcome}");
    Ok(())
}

fn file(scene: &Scene<'_>) -> Result<()> {
    let path = scene.file(b"from a file\n")?;
    let outcome = scene.same_script(&format!(r#""$APP" cat /dev/fd/9 9<{}"#, path.display()))?;
    ensure!(outcome.out() == "from a file\n", "{outcome}");
    Ok(())
}
