//! 89luca89/distrobox 416: the start walks through all files below a shared directory.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let app = ground.host.register(&ADA, ("walk-416", &Image::BOX, "/bin/busybox"), &["--share", "cwd"])?;
    let (empty, full) = (ground.directory()?, ground.directory()?);
    for n in 0..20_000 {
        let dir = full.join((n / 200).to_string());
        if n % 200 == 0 {
            fs::create_dir(&dir)?;
        }
        fs::write(dir.join(n.to_string()), "")?;
    }
    let median = |dir: &Path| -> Result<Duration> {
        let mut times = Vec::new();
        for _ in 0..5 {
            let mut command = ADA.command(&app);
            command.arg("true").current_dir(dir);
            let start = Instant::now();
            Call::new(command).check()?;
            times.push(start.elapsed());
        }
        times.sort();
        Ok(times[2])
    };
    median(&empty)?;
    let (few, many) = (median(&empty)?, median(&full)?);
    ensure!(many < few * 2 + Duration::from_millis(300), "{few:?} with no files, {many:?} with 20000");
    Ok(())
}
