//! What of the caller's files the app works on.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use anyhow::{Result, ensure};
use flake_testkit::Call;

use super::Case;
use super::apps::{Apps, DATA, DATA_READ_ONLY};

pub(super) const CASES: &[Case] = &[
    ("cwd_is_the_same", |apps| {
        let dir = apps.directory()?;
        let said = apps.same_here(&dir, &["pwd"])?;
        ensure!(Path::new(said.trim_end_matches('\n')) == dir, "{said}");
        Ok(())
    }),
    ("files_of_the_app_belong_to_the_caller", ownership),
    ("umask_of_the_caller_holds", umask),
    ("files_of_the_caller_can_be_read_and_changed", read_and_change),
    ("only_cwd_is_shared", only_cwd),
    ("cwd_in_a_system_directory_is_not_shared", |apps| not_shared(apps, Path::new("/etc"))),
    ("root_directory_as_cwd_is_not_shared", |apps| not_shared(apps, Path::new("/"))),
    ("home_as_cwd_is_not_shared", |apps| not_shared(apps, &apps.user.home())),
    ("home_can_be_shared", home),
    ("home_can_be_shared_read_only", home_read_only),
    ("directories_can_be_shared", data),
    ("cwd_that_is_gone", gone),
];

fn ownership(apps: &Apps<'_>) -> Result<()> {
    let dir = apps.directory()?;
    let outcome = apps.here(&dir, &["sh", "-c", "echo content >file; mkdir -p a/b; ln -s file link"])?;
    ensure!(outcome.success(), "{outcome}");
    for name in ["file", "a", "a/b", "link"] {
        let made = fs::symlink_metadata(dir.join(name))?;
        ensure!((made.uid(), made.gid()) == (apps.user.id, apps.user.id), "{name}: {made:?}");
    }
    ensure!(fs::read_to_string(dir.join("file"))? == "content\n");
    Ok(())
}

fn umask(apps: &Apps<'_>) -> Result<()> {
    let dir = apps.directory()?;
    let mut command = apps.user.command("/usr/bin/bash");
    let script = r#"umask 027; "$0" touch file; "$0" mkdir dir"#;
    command.args(["-c", script]).arg(apps.here_path()).current_dir(&dir);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.success(), "{outcome}");
    for (name, mode) in [("file", 0o640), ("dir", 0o750)] {
        let found = fs::metadata(dir.join(name))?.mode() & 0o777;
        ensure!(found == mode, "{name} has mode {found:o}");
    }
    Ok(())
}

fn read_and_change(apps: &Apps<'_>) -> Result<()> {
    let dir = apps.directory()?;
    fs::write(dir.join("file"), "one\n")?;
    chown(dir.join("file"), Some(apps.user.id), None)?;
    let absolute = dir.join("file").to_string_lossy().into_owned();
    let script = r#"cat file "$1"; echo two >>"$1"; rm -f other; chmod 600 file"#;
    let outcome = apps.here(&dir, &["sh", "-c", script, "sh", &absolute])?;
    ensure!(outcome.out() == "one\none\n" && outcome.success(), "{outcome}");
    ensure!(fs::read_to_string(dir.join("file"))? == "one\ntwo\n");
    ensure!(fs::metadata(dir.join("file"))?.mode() & 0o777 == 0o600);
    Ok(())
}

fn only_cwd(apps: &Apps<'_>) -> Result<()> {
    let (dir, sibling) = (apps.directory()?, apps.directory()?);
    let secret = sibling.join("secret");
    fs::write(&secret, "secret\n")?;
    let outcome = apps.here(&dir, &["cat", &secret.to_string_lossy()])?;
    ensure!(!outcome.success() && outcome.out().is_empty(), "{outcome}");
    let home = apps.user.home().to_string_lossy().into_owned();
    let outcome = apps.here(&dir, &["ls", &home])?;
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    ensure!(outcome.out() == format!("{name}\n"), "more of the home than the directory: {outcome}");
    Ok(())
}

/// The app starts in the image's own directory, and no word about it gets into a pipe.
fn not_shared(apps: &Apps<'_>, dir: &Path) -> Result<()> {
    let mark = dir.join(format!("mark-{}", apps.host.mark()));
    fs::write(&mark, "x")?;
    let outcome =
        apps.here(dir, &["sh", "-c", r#"pwd; test -e "$1" && echo visible"#, "sh", &mark.to_string_lossy()])?;
    fs::remove_file(&mark)?;
    ensure!(outcome.out() == "/\n" && outcome.err().is_empty(), "{outcome}");
    let outcome = apps.other_user(dir, &["sh", "-c", "pwd; cat file"])?;
    ensure!(outcome.out() == "/place\nfrom the image\n", "{outcome}");
    Ok(())
}

fn home(apps: &Apps<'_>) -> Result<()> {
    let mark = format!("home-{}", apps.host.mark());
    let outcome = apps.home(&apps.user.home(), &["sh", "-c", "pwd; echo content >$1", "sh", &mark])?;
    let home = apps.user.home();
    ensure!(outcome.out() == format!("{}\n", home.display()), "{outcome}");
    let made = fs::metadata(home.join(&mark))?;
    ensure!(made.uid() == apps.user.id, "{made:?}");
    Ok(())
}

fn home_read_only(apps: &Apps<'_>) -> Result<()> {
    let mark = format!("home-{}", apps.host.mark());
    fs::write(apps.user.home().join(&mark), "content\n")?;
    chown(apps.user.home().join(&mark), Some(apps.user.id), None)?;
    let script = "cat ~/$1; echo more >>~/$1 && echo written";
    let outcome = apps.home_read_only(Path::new("/"), &["sh", "-c", script, "sh", &mark])?;
    ensure!(outcome.out() == "content\n" && outcome.err().contains("Read-only"), "{outcome}");
    ensure!(fs::read_to_string(apps.user.home().join(&mark))? == "content\n");
    Ok(())
}

fn data(apps: &Apps<'_>) -> Result<()> {
    let mark = format!("data-{}", apps.host.mark());
    let script = format!(
        "cat {DATA}/file {DATA_READ_ONLY}/file; echo x >{DATA}/$1; echo x >{DATA_READ_ONLY}/$1 && echo written"
    );
    let outcome = apps.data(Path::new("/"), &["sh", "-c", &script, "sh", &mark])?;
    ensure!(outcome.out() == "shared\nshared\n" && outcome.err().contains("Read-only"), "{outcome}");
    let made = fs::metadata(Path::new(DATA).join(&mark))?;
    ensure!(made.uid() == apps.user.id, "{made:?}");
    ensure!(!Path::new(DATA_READ_ONLY).join(&mark).exists());
    Ok(())
}

/// A directory that was removed under the caller: one message or the image's directory, but no hang and no
/// noise.
fn gone(apps: &Apps<'_>) -> Result<()> {
    let dir = apps.directory()?;
    let mut command = apps.user.command("/usr/bin/bash");
    let script = r#"rmdir "$PWD"; "$0" echo word"#;
    command.args(["-c", script]).arg(apps.here_path()).current_dir(&dir);
    let outcome = Call::new(command).run()?;
    let refused = outcome.code == Some(125) && outcome.err().lines().count() == 1;
    ensure!(refused || outcome.out() == "word\n", "{outcome}");
    Ok(())
}
