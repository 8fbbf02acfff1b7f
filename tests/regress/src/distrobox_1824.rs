//! 89luca89/distrobox 1824: commands start before what is started inside is ready.
//!
//! A service begins late; the probe for it gates the first call, and each first call after a stop.

use anyhow::Result;

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-1824")?;
    kept.layer(
        "provision:\n- {run: start, script: 'rm -f /up; (sleep 1; echo up >/up) >/dev/null 2>&1 &'}\n\
         probes:\n- {script: 'test -s /up', interval: 100ms}\n",
    )?;
    for _ in 0..2 {
        kept.prints(&["cat", "/up"], "up\n")?;
        kept.podman(&["stop", "--time", "0", &kept.container()])?;
    }
    kept.end()
}
