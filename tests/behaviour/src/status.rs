//! How the app ended is how the launcher ends.

use anyhow::{Result, ensure};
use flake_testkit::Call;

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "exit_0", run: |scene| exit(scene, 0) },
    Case { name: "exit_1", run: |scene| exit(scene, 1) },
    Case { name: "exit_42", run: |scene| exit(scene, 42) },
    Case { name: "exit_125", run: |scene| exit(scene, 125) },
    Case { name: "exit_126", run: |scene| exit(scene, 126) },
    Case { name: "exit_127", run: |scene| exit(scene, 127) },
    Case { name: "exit_255", run: |scene| exit(scene, 255) },
    Case { name: "death_by_sigterm", run: |scene| death(scene, "TERM", 15) },
    Case { name: "death_by_sigkill", run: |scene| death(scene, "KILL", 9) },
    Case { name: "death_by_sigsegv", run: |scene| death(scene, "SEGV", 11) },
    Case { name: "target_missing", run: |scene| unusable(scene, r#""$MISSING" word"#, 127) },
    Case { name: "target_not_executable", run: |scene| unusable(scene, r#""$PLAIN" word"#, 126) },
];

fn exit(scene: &Scene<'_>, code: i32) -> Result<()> {
    let outcome = scene.same_outcome(&["sh", "-c", &format!("exit {code}")])?;
    ensure!(outcome.code == Some(code), "{outcome}");
    Ok(())
}

fn death(scene: &Scene<'_>, name: &str, number: i32) -> Result<()> {
    let ended = scene.same(|subject| {
        let outcome =
            subject.call(&["sh", "-c", &format!("echo before; kill -{name} $$; echo after")]).run()?;
        Ok((outcome.signal, outcome.stdout))
    })?;
    ensure!(ended == (Some(number), b"before\n".to_vec()), "{ended:?}");
    Ok(())
}

/// The status is what a shell gives for its own command; the words are not the shell's.
fn unusable(scene: &Scene<'_>, script: &str, code: i32) -> Result<()> {
    let ended = scene.same(|subject| {
        let outcome = Call::new(subject.script(script)).run()?;
        ensure!(!outcome.stderr.is_empty(), "no word about it");
        Ok((outcome.code, outcome.stdout))
    })?;
    ensure!(ended == (Some(code), Vec::new()), "{ended:?}");
    Ok(())
}
