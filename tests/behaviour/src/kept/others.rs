//! Other users of the host cannot come near an instance.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, BOB, Call, User};

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] =
    &[("closed_to_others", closed), ("a_folder_that_somebody_else_has_made", squatted)];

fn closed(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let (note, socket) = (flake.note(), flake.noted()?.socket);
    let folder = fs::metadata(socket.parent().context("no folder")?)?;
    ensure!(folder.mode() & 0o7777 == 0o700 && folder.uid() == flake.way.store.id, "{folder:?}");
    refuses(&BOB, &socket)?;
    refuses(&BOB, &note)?;
    if flake.way.store.id != flake.way.caller.id {
        // What root's store keeps for a user is not the user's to enter.
        refuses(&ADA, &socket)?;
        refuses(&ADA, &note)?;
    }
    flake.end()
}

fn refuses(user: &User, path: &Path) -> Result<()> {
    let mut command = user.command("/usr/bin/stat");
    command.arg(path);
    let outcome = Call::new(command).run()?;
    ensure!(!outcome.success() && outcome.err().contains("Permission denied"), "{}: {outcome}", user.name);
    Ok(())
}

/// The folder of the sockets is there, but somebody else's, or open to them: it is not used.
fn squatted(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let folders: &[PathBuf] = match flake.way.store.id {
        0 => &["/run/flakes".into()],
        id => &[format!("/run/user/{id}/flakes").into(), format!("/tmp/flakes-{id}").into()],
    };
    for folder in folders {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir(folder)?;
    }
    for (owner, mode) in [(&BOB, 0o700), (&BOB, 0o777), (flake.way.store, 0o770)] {
        for folder in folders {
            chown(folder, Some(owner.id), Some(owner.id))?;
            fs::set_permissions(folder, Permissions::from_mode(mode))?;
        }
        let outcome = flake.call(&["echo", "word"]).run()?;
        flake.failed(&outcome, "not a private folder of this user").with_context(|| format!("{mode:o}"))?;
        ensure!(flake.containers()?.is_empty() && !flake.note().exists(), "something was made");
    }
    for folder in folders {
        fs::remove_dir(folder)?;
    }
    flake.works()?;
    flake.is_one()?;
    flake.end()
}
