//! Who the app is, when root runs it for somebody.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Outcome};

use super::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("as_caller_whoami", |ground| same(ground, "whoami; id -u; id -g; id -un; id -gn")),
    ("as_caller_home", |ground| {
        same(ground, "echo $HOME; echo ~; echo $USER $LOGNAME; eval echo ~$(whoami)")
    }),
    ("as_caller_groups", |ground| same(ground, "id -G; grep Groups /proc/self/status")),
    ("as_caller_directory", |ground| same(ground, "pwd; ls -a; umask")),
    ("as_caller_files_belong_to_the_caller", |ground| {
        let dir = ground.directory()?;
        made(&as_caller(ground)?, &dir, ADA.id)
    }),
    ("as_caller_has_no_capabilities", |ground| {
        let app = as_caller(ground)?;
        let outcome = shell(&app, &ground.directory()?, "grep -E 'Cap(Eff|Prm|Inh)' /proc/self/status")?;
        let none = |line: &str| line.ends_with("\t0000000000000000");
        ensure!(outcome.out().lines().count() == 3 && outcome.out().lines().all(none), "{outcome}");
        Ok(())
    }),
    ("as_caller_cannot_write_what_is_root_s", |ground| {
        let dir = ground.directory()?;
        fs::write(dir.join("of-root"), "untouched\n")?;
        let app = as_caller(ground)?;
        let outcome = shell(&app, &dir, "cat of-root; echo more >>of-root")?;
        ensure!(!outcome.success() && outcome.out() == "untouched\n", "{outcome}");
        ensure!(fs::read_to_string(dir.join("of-root"))? == "untouched\n");
        Ok(())
    }),
    ("as_image_is_root_inside", |ground| {
        let dir = ground.directory()?;
        let app = ground.flake("as-root-image", &["--share", "cwd", "--as-image"])?;
        let outcome = shell(&app, &dir, "whoami; id -u; id -g; echo $HOME; pwd")?;
        ensure!(outcome.out() == format!("root\n0\n0\n/root\n{}\n", dir.display()), "{outcome}");
        made(&app, &dir, 0)
    }),
    ("without_shares_it_is_root_and_sees_nothing", |ground| {
        let app = ground.flake("as-root-plain", &[])?;
        let dir = ground.directory()?;
        let outcome = shell(&app, &dir, "whoami; id -u; echo $HOME; pwd; ls -A /tmp")?;
        ensure!(outcome.out() == "root\n0\n/root\n/\n", "{outcome}");
        Ok(())
    }),
];

fn as_caller(ground: &Ground<'_>) -> Result<PathBuf> {
    ground.flake("as-root-here", &["--share", "cwd", "--as-caller"])
}

fn shell(app: &Path, dir: &Path, script: &str) -> Result<Outcome> {
    let mut command = ADA.command(app);
    command.args(["sh", "-c", script]).current_dir(dir);
    Ok(Call::new(command).run()?)
}

/// The script says the same as in busybox on the host.
fn same(ground: &Ground<'_>, script: &str) -> Result<()> {
    let dir = ground.directory()?;
    let app = as_caller(ground)?;
    let (expected, found) = (shell(Path::new("/bin/busybox"), &dir, script)?, shell(&app, &dir, script)?);
    ensure!(found == expected && found.success(), "the host command gave {expected}\nthis gave {found}");
    Ok(())
}

/// What the app makes belongs to `owner`.
fn made(app: &Path, dir: &Path, owner: u32) -> Result<()> {
    let outcome = shell(app, dir, "echo content >file; mkdir -p a/b; ln -s file link")?;
    ensure!(outcome.success(), "{outcome}");
    for name in ["file", "a", "a/b", "link"] {
        let made = fs::symlink_metadata(dir.join(name))?;
        ensure!((made.uid(), made.gid()) == (owner, owner), "{name}: {made:?}");
    }
    Ok(())
}
