//! Elektrobit/flake-pilot 59: a user who interrupts the first, silent set-up breaks the flake.
//!
//! The first call of a system flake by a user imports its image.

use anyhow::{Result, ensure};
use flake_testkit::{BOB, Call, Conversation, Image, ROOT, until};
use nix::sys::signal::Signal;
use std::time::Duration;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ROOT, ("first-59", &Image::BOX, "/bin/busybox"), &[])?;
    for pause in [20, 60, 120, 200, 300, 500] {
        let mut command = BOB.command(&app);
        command.args(["sh", "-c", "sleep 1"]);
        let call = Conversation::new(Call::new(command).spawn()?);
        // Not a synchronisation: the moment of the interrupt is what varies.
        std::thread::sleep(Duration::from_millis(pause));
        call.signal(Signal::SIGINT);
        let outcome = call.end()?;
        ensure!(outcome.signal == Some(2), "after {pause} ms: {outcome}");
        if pause == 300 {
            let outcome = ground.host.podman(&BOB, ["rmi", "--force", "localhost/flake/first-59"]).run()?;
            ensure!(outcome.code.is_some_and(|code| code < 2), "{outcome}");
        }
    }
    let mut command = BOB.command(&app);
    command.args(["echo", "word"]);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.out() == "word\n" && outcome.success(), "{outcome}");
    let none = || ground.host.containers(&BOB).is_ok_and(|list| list.is_empty()).then_some(());
    until("the end of bob's containers", none, || format!("{:?}", ground.host.containers(&BOB)))?;
    let list = ground.host.podman(&BOB, ["images", "--all", "--format", "{{.Repository}}"]).check()?.out();
    let whole = list.lines().filter(|name| *name == "localhost/flake/first-59").count();
    ensure!(whole == 1 && !list.contains("<none>"), "{list}");
    Ok(())
}
