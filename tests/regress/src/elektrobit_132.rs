//! Elektrobit/flake-pilot 132: a launcher that died during the start makes all later calls fail.
//!
//! It is killed at several moments of the launch; each time the next call works and nothing is left. The same where the
//! instance is kept, while it is made: there is one in the end.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, processes, until};
use std::time::Duration;

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ADA, ("killed-132", &Image::BOX, "/bin/busybox"), &[])?;
    for pause in [0, 10, 30, 60, 100, 150, 200, 300] {
        let mark = ground.host.mark();
        let mut command = ADA.command(&app);
        command.args(["sleep", &mark]);
        let mut child = Call::new(command).spawn()?;
        // Not a synchronisation: the moment of death is what varies.
        std::thread::sleep(Duration::from_millis(pause));
        child.kill()?;
        child.wait()?;
        let mut command = ADA.command(&app);
        command.args(["echo", "word"]);
        let outcome = Call::new(command).run()?;
        ensure!(outcome.out() == "word\n" && outcome.success(), "after {pause} ms: {outcome}");
        processes::until_gone(&mark)?;
    }
    let list = || {
        let filter = ["ps", "--all", "--quiet", "--filter", "label=flake.name=killed-132"];
        ground.host.podman(&ADA, filter).check().map(|outcome| outcome.out()).unwrap_or_default()
    };
    until("the end of all containers of killed launchers", || list().is_empty().then_some(()), list)?;
    kept(ground)
}

fn kept(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-132")?;
    for pause in [0, 20, 60, 100, 140, 180] {
        let mut command = ADA.command(kept.app());
        command.arg("true");
        let mut child = Call::new(command).spawn()?;
        std::thread::sleep(Duration::from_millis(pause));
        child.kill()?;
        child.wait()?;
        kept.prints(&["echo", "word"], "word\n")?;
        ensure!(kept.containers()?.len() == 1, "after {pause} ms: {:?}", kept.containers());
        kept.end()?;
    }
    Ok(())
}
