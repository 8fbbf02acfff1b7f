//! Comparing everything that a call says.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, ScratchHost, User};

/// The line that says how to begin with `flake-ctl podman register` for an image with one program.
pub(crate) const BOX: [&str; 6] =
    ["podman", "register", "--container", "localhost/box", "--target", "/bin/busybox"];

/// Runs a call; its status, output and errors have to be exactly these.
pub(crate) fn told(call: Call, code: i32, out: &str, err: &str) -> Result<()> {
    let outcome = call.run()?;
    ensure!(
        outcome.code == Some(code) && outcome.out() == out && outcome.err() == err,
        "{outcome}\nexpected: exit status {code}, stdout {out:?}, stderr {err:?}"
    );
    Ok(())
}

/// `flake-ctl` with the words of a line, divided at blanks.
pub(crate) fn line(host: &ScratchHost, user: &User, line: &str) -> Call {
    host.flake_ctl(user, line.split(' '))
}

/// A refusal: exit status 1, nothing on standard output.
pub(crate) fn refused(call: Call, err: &str) -> Result<()> {
    told(call, 1, "", err)
}

/// Done without a word.
pub(crate) fn silent(call: Call) -> Result<()> {
    told(call, 0, "", "")
}

/// A file has to have exactly this text.
pub(crate) fn holds(path: impl AsRef<Path>, text: &str) -> Result<()> {
    let path = path.as_ref();
    let found = fs::read_to_string(path).context(path.display().to_string())?;
    ensure!(found == text, "{} holds\n{found}\nexpected\n{text}", path.display());
    Ok(())
}

/// Nothing may stand there, not even a link.
pub(crate) fn absent(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    ensure!(path.symlink_metadata().is_err(), "{} is there", path.display());
    Ok(())
}
