//! Elektrobit/flake-pilot 33: a user without sudo gets the engine's complaint instead of a word about sudo.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, BOB, Call, Image, ROOT, User};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ROOT, ("sudo-33", &Image::BOX, "/bin/busybox"), &["--run-as", "root"])?;
    let call = |user: &User| {
        let mut command = user.command(&app);
        command.args(["echo", "word"]);
        Call::new(command).run()
    };
    let outcome = call(&BOB)?;
    ensure!(outcome.code == Some(125) && outcome.out().is_empty(), "{outcome}");
    ensure!(outcome.err().contains("sudo") && outcome.err().contains("sudo-33"), "{outcome}");
    ensure!(outcome.err().lines().count() <= 2, "{outcome}");
    let outcome = call(&ADA)?;
    ensure!(outcome.out() == "word\n" && outcome.err().is_empty(), "{outcome}");
    Ok(())
}
