//! The caller's terminal, on which nobody inside may type.

use anyhow::{Result, ensure};
use flake_testkit::Subject;
use std::path::PathBuf;

use super::{Case, Ground};

pub(super) const CASES: &[Case] = &[("nobody_types_on_the_caller_s_terminal", typing)];

/// `EPERM`, which the filter says; the kernel itself, where it refuses, says something else.
const REFUSED: &str = "errno 1";

fn typing(ground: &Ground<'_>) -> Result<()> {
    let seen = on_terminal(ground, ground.plain()?, "$APP sh -c 'exec /bin/probe try type x'; echo end")?;
    for name in ["sti", "sti.high", "linux", "linux.high", "libc", "sti.i386", "linux.i386"] {
        let line = format!("type.{name}={REFUSED}\\r");
        ensure!(seen.contains(&line) || is_foreign(name), "no {line} in {seen}");
    }
    for name in ["sti.x32", "linux.x32"] {
        ensure!(!seen.contains(&format!("type.{name}=ok")), "{seen}");
    }
    // Where there are 32-bit programs, it is the filter that refuses, and not that there are none.
    let is_asked = seen.contains("type.nothing.i386=errno 25") || seen.contains("type.nothing.i386=errno 22");
    ensure!(is_asked || is_foreign("i386"), "no program of 32 bits was judged: {seen}");
    // On the host root may type.
    if ground.is_root() {
        let program = ground.program()?;
        let seen = on_terminal(ground, program, "$APP try type x; echo end")?;
        ensure!(seen.contains("type.sti=ok"), "{seen}");
    }
    Ok(())
}

fn is_foreign(name: &str) -> bool {
    name.ends_with("i386") && !cfg!(target_arch = "x86_64")
}

fn on_terminal(ground: &Ground<'_>, app: PathBuf, script: &str) -> Result<String> {
    let (name, user) = (ground.way.name, ground.way.user);
    let subject =
        Subject { name, user, missing: app.clone(), not_executable: app.clone(), before_words: &[], app };
    Ok(subject.terminal(script)?.end()?.seen)
}
