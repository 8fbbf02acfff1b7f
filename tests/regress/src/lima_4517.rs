//! lima-vm/lima 4517: the start waits for a probe that cannot pass, without end, and the hint comes with the end.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Subject};

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-4517")?;
    let deadline = |time: &str| {
        kept.layer(&format!(
            "probes:\n- {{description: a command, script: command -v nothere, hint: look at the log, interval: 200ms, \
             deadline: {time}}}\n"
        ))
    };
    deadline("1s")?;
    let outcome = kept.call(&["true"])?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("did not pass within 1s"), "{outcome}");
    ensure!(outcome.err().contains("hint: look at the log"), "{outcome}");
    // On a terminal it is said at once, long before.
    deadline("10m")?;
    let subject = Subject { app: kept.app().clone(), ..Subject::control(&ADA) };
    let terminal = subject.terminal("trap : INT; \"$APP\" true; echo \"status $?\"")?;
    terminal.expect("waiting for a command")?;
    terminal.expect("look at the log\r\n")?;
    terminal.send("\x03")?;
    terminal.expect("status 130\r\n")?;
    terminal.end()?;
    kept.end()
}
