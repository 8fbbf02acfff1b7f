//! What of the host is in an instance that outlives the calls: the working directory of each call, and a home.

use anyhow::{Result, ensure};
use flake_testkit::{Call, Outcome};
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_folders", &["--mutable", "--share", "cwd"], folders),
    ("i_readonly", &["--mutable", "--share", "cwd:ro"], read_only),
    ("i_anew", &["--mutable", "--share", "cwd"], anew),
    ("i_elsewhere", &["--mutable", "--share", "cwd", "--workdir", "image"], elsewhere),
    ("i_home", &["--mutable", "--as-caller"], home),
    ("i_workdir", &["--mutable"], unshared),
];

/// A folder of the user, with a file `name` in which its name is.
fn folder(ground: &Ground<'_>, name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(format!("/srv/{}-{}/{name}", ground.name, ground.user().id));
    fs::create_dir_all(&path)?;
    fs::write(path.join("name"), format!("{name}\n"))?;
    let id = Some(ground.user().id);
    for path in [Some(&*path), path.parent(), Some(&path.join("name"))].into_iter().flatten() {
        chown(path, id, id)?;
    }
    Ok(path)
}

fn call_in(ground: &Ground<'_>, folder: &Path, words: &[&str]) -> Result<Outcome> {
    let mut command = ground.subject.command();
    command.args(words).current_dir(folder).env("PWD", folder);
    Ok(Call::new(command).run()?)
}

fn prints_in(ground: &Ground<'_>, folder: &Path, words: &[&str], out: &str) -> Result<()> {
    let outcome = call_in(ground, folder, words)?;
    ensure!(
        outcome.success() && outcome.out() == out && outcome.stderr.is_empty(),
        "{words:?} in {}: {outcome}, expected {out:?}",
        folder.display()
    );
    Ok(())
}

fn folders(ground: &Ground<'_>) -> Result<()> {
    let names = ["a", "b", "a/below", "with blank"];
    let all = names.iter().map(|name| Ok((*name, folder(ground, name)?))).collect::<Result<Vec<_>>>()?;
    for _ in 0..2 {
        for (name, path) in &all {
            prints_in(ground, path, &["cat", "name"], &format!("{name}\n"))?;
            prints_in(ground, path, &["pwd"], &format!("{}\n", path.display()))?;
            prints_in(
                ground,
                path,
                &["sh", "-c", "echo out >made; stat -c %u made"],
                &format!("{}\n", ground.user().id),
            )?;
            ensure!(fs::read_to_string(path.join("made"))? == "out\n");
            fs::remove_file(path.join("made"))?;
        }
        // And after a stop.
        ground.stop(&ground.name)?;
    }
    // All at once.
    let calls: Vec<_> = (0..12).map(|number| &all[number % all.len()]).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = calls
            .iter()
            .map(|(name, path)| {
                scope.spawn(move || prints_in(ground, path, &["cat", "name"], &format!("{name}\n")))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| anyhow::bail!("a panic")))
    })?;
    // Through a link it is what the caller calls it.
    let link = all[0].1.with_file_name("link");
    symlink(&all[1].1, &link)?;
    prints_in(ground, &link, &["cat", "name"], "b\n")?;
    ground.has(&[&ground.name])
}

fn read_only(ground: &Ground<'_>) -> Result<()> {
    for name in ["a", "b"] {
        let path = folder(ground, name)?;
        prints_in(ground, &path, &["cat", "name"], &format!("{name}\n"))?;
        let outcome = call_in(ground, &path, &["touch", "made"])?;
        ensure!(outcome.code == Some(1) && outcome.err().contains("Read-only file system"), "{outcome}");
        // Nor by mounting it again.
        let outcome =
            call_in(ground, &path, &["sh", "-c", "mount -o remount,rw,bind . 2>/dev/null; touch made"])?;
        ensure!(!outcome.success() && !path.join("made").exists(), "{outcome}");
    }
    Ok(())
}

/// A folder that was removed and made anew is another one.
fn anew(ground: &Ground<'_>) -> Result<()> {
    let path = folder(ground, "a")?;
    let other = folder(ground, "b")?;
    prints_in(ground, &path, &["cat", "name"], "a\n")?;
    for round in 0..3 {
        fs::remove_dir_all(&path)?;
        let path = folder(ground, "a")?;
        fs::write(path.join("round"), format!("{round}\n"))?;
        prints_in(ground, &path, &["cat", "round"], &format!("{round}\n"))?;
    }
    // One that took the place of another.
    fs::rename(&path, path.with_file_name("moved"))?;
    fs::rename(&other, &path)?;
    prints_in(ground, &path, &["cat", "name"], "b\n")?;
    prints_in(ground, &path.with_file_name("moved"), &["cat", "name"], "a\n")?;
    // One that is gone while it is called from there.
    let gone = folder(ground, "gone")?;
    let script = "cd \"$0\" && rmdir \"$0\" 2>/dev/null || rm -r \"$0\"; \"$APP\" echo word";
    let mut command = ground.subject.script(script);
    command.arg(&gone);
    let outcome = Call::new(command).run()?;
    ensure!(
        outcome.code == Some(125)
            && outcome.stderr.starts_with(ground.name.as_bytes())
            && outcome.err().lines().count() <= 2,
        "{outcome}"
    );
    Ok(())
}

/// The folder is there also when the application does not begin in it.
fn elsewhere(ground: &Ground<'_>) -> Result<()> {
    for name in ["a", "b", "a"] {
        let path = folder(ground, name)?;
        let file = path.join("name").display().to_string();
        prints_in(ground, &path, &["sh", "-c", &format!("pwd; cat '{file}'")], &format!("/\n{name}\n"))?;
    }
    Ok(())
}

/// A home that is not the host's is the instance's, and lives as long.
fn home(ground: &Ground<'_>) -> Result<()> {
    let home = ground.user().home().display().to_string();
    let expected = format!("{home}\n");
    ground.prints(&["sh", "-c", "echo $HOME"], &expected)?;
    ground.prints(
        &["sh", "-c", "echo data >~/.data; stat -c %u ~/.data"],
        &format!("{}\n", ground.user().id),
    )?;
    ensure!(!ground.user().home().join(".data").exists(), "it is in the host's home");
    ground.prints(&["sh", "-c", "cat ~/.data"], "data\n")?;
    ground.stop(&ground.name)?;
    ground.prints(&["sh", "-c", "cat ~/.data"], "data\n")?;
    ground.prints(&["@x", "sh", "-c", "test ! -e ~/.data"], "")?;
    // Its volume goes with it.
    let format = "{{range .Mounts}}{{if eq .Type \"volume\"}}{{.Name}} {{end}}{{end}}";
    let mut volumes = String::new();
    for label in ["x", &ground.name] {
        volumes += &ground.podman(["container", "inspect", "--format", format, &ground.container(label)])?;
    }
    let expected = if ground.user().id == 0 { 0 } else { 2 };
    ensure!(volumes.split_whitespace().count() == expected, "{volumes}");
    ground.prints(&["flake", "remove=x"], "")?;
    ground.prints(&["flake", &format!("remove={}", ground.name)], "")?;
    let left = ground.podman(["volume", "ls", "--quiet"])?;
    for volume in volumes.split_whitespace() {
        ensure!(!left.contains(volume), "a volume is left: {volume}");
    }
    ground.prints(&["sh", "-c", "test ! -e ~/.data"], "")
}

/// Without a share it begins where the image says, wherever the caller is.
fn unshared(ground: &Ground<'_>) -> Result<()> {
    let path = folder(ground, "a")?;
    prints_in(ground, &path, &["sh", "-c", "pwd; test ! -e /srv"], "/\n")
}
