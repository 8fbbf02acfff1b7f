//! Mic92/cntr 864: a terminal that is forced on the command corrupts binary output.

use anyhow::{Result, ensure};
use flake_testkit::Call;

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let path = ground.path();
    let script = format!(
        r#"head -c 1000000 /dev/urandom >{0}; "$APP" cat <{0} | cmp - {0} && echo same"#,
        path.display()
    );
    let outcome = Call::new(ground.app.script(&script)).run()?;
    ensure!(outcome.out() == "same\n", "{outcome}");
    let ended = ground.app.terminal(&script.replace("head -c", "sleep 0; head -c"))?.end()?;
    ensure!(ended.seen == r"same\r\n", "{ended:?}");
    Ok(())
}
