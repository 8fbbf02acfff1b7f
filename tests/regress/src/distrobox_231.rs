//! 89luca89/distrobox 231: no way to start in the app's own directory instead of the caller's.
//!
//! Both ways, and the caller's directory only when asked for.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let dir = ground.directory()?;
    let own = dir.to_string_lossy().into_owned();
    let ways: [(&str, &[&str], &str); 3] = [
        ("image-231", &[], "/place"),
        ("named-231", &["--workdir", "/tmp"], "/tmp"),
        ("caller-231", &["--share", "cwd", "--workdir", "cwd"], &own),
    ];
    for (name, options, expected) in ways {
        let app = ground.host.register(&ADA, (name, &Image::USERIMG, "/bin/busybox"), options)?;
        let mut command = ADA.command(&app);
        command.arg("pwd").current_dir(&dir);
        let outcome = Call::new(command).check()?;
        ensure!(outcome.out().trim_end() == expected, "{options:?}: {outcome}");
    }
    Ok(())
}
