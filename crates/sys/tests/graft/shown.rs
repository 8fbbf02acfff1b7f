//! What is mounted is there, as it should be, and gone with the container.

use crate::Case;
use crate::container::{Container, folder, host_mounts};
use crate::grafter::{READ_ONLY, program};
use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost, User};
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;

pub(crate) const CASES: &[Case] = &[
    ("root", |host| comes_and_goes(host, &ROOT, &[])),
    ("root, ids of its own", |host| comes_and_goes(host, &ROOT, &["--uidmap=0:500000:65536"])),
    ("a user", |host| comes_and_goes(host, &ADA, &[])),
    ("a user with the caller's ids", |host| comes_and_goes(host, &ADA, &["--userns=keep-id"])),
    ("a user without the caller's ids", |host| comes_and_goes(host, &ADA, &["--userns=nomap"])),
    ("a user without rights inside", |host| {
        comes_and_goes(
            host,
            &ADA,
            &["--userns=keep-id", "--cap-drop=all", "--security-opt=no-new-privileges"],
        )
    }),
    ("read-only", read_only),
    ("folders made anew", made_anew),
    ("a folder that lost its name", renamed),
    ("what is mounted and unmounted later", apart),
    ("several at once", at_once),
];

fn on_host(program: &str, words: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(words);
    Ok(Call::new(command).check().map(drop)?)
}

fn comes_and_goes(host: &ScratchHost, user: &'static User, options: &[&str]) -> Result<()> {
    let container = Container::start(host, user, &Image::BOX, options)?;
    let folder = folder(host, user)?;
    let text = folder.display();
    let below = folder.join("below");
    fs::create_dir(&below)?;
    on_host("/usr/bin/mount", &["-t", "tmpfs", "-o", "mode=0777", "below", &below.to_string_lossy()])?;
    fs::write(below.join("file"), "below\n")?;
    let before = host_mounts(user)?;

    container.share(&folder)?;
    ensure!(host_mounts(user)? == before, "something is mounted on the host");
    let owner = container.says(&format!("stat -c %u {text}"))?;
    let expected = match options {
        ["--userns=nomap"] | ["--uidmap=0:500000:65536"] => "65534".to_owned(),
        ["--userns=keep-id", ..] => user.id.to_string(),
        _ => "0".to_owned(),
    };
    ensure!(owner == expected, "it belongs to {owner}");
    if owner != "65534" {
        let script =
            format!("cd {text}; cat file below/file; echo x >made; echo y >below/made; stat -c %u made");
        let said = container.as_id(&owner, &script).check()?.out();
        ensure!(said == format!("of the host\nbelow\n{owner}\n"), "{said}");
        ensure!(fs::metadata(folder.join("made"))?.uid() == user.id, "made by somebody else");
        ensure!(fs::read_to_string(below.join("made"))? == "y\n", "not made below");
    }
    let mounts = container.mounts(&folder)?;
    ensure!(mounts.iter().map(|(path, _)| path).eq([&folder, &below]), "{mounts:?}");
    for (path, options) in &mounts {
        for word in ["rw", "nosuid", "nodev"] {
            ensure!(options.split(',').any(|option| option == word), "{}: {options}", path.display());
        }
    }
    // The folders that lead there are the container's.
    let parent = folder.join("..").canonicalize()?;
    let said = container.says(&format!("stat -c '%u %g %a' {}", parent.display()))?;
    ensure!(said == "0 0 755", "the parent: {said}");

    // A second call, and one from a folder in it, find everything there.
    container.share(&folder)?;
    container.share(&below)?;
    ensure!(container.mounts(&folder)?.len() == 2, "mounted twice");
    // From the folder above a new one is needed.
    container.share(&parent)?;
    ensure!(container.mounts(&parent)?.len() == 4, "{:?}", container.mounts(&parent)?);

    container.end()?;
    on_host("/usr/bin/umount", &[&below.to_string_lossy()])?;
    ensure!(fs::read_to_string(folder.join("file"))? == "of the host\n", "the file is lost");
    fs::remove_dir_all(parent)?;
    ensure!(host.containers(user)?.is_empty(), "a container is left");
    Ok(())
}

fn read_only(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA] {
        let container = Container::start(host, user, &Image::BOX, &[])?;
        let folder = folder(host, user)?;
        let mut command = container.grafting(&folder, &folder);
        command.env(READ_ONLY, "1");
        Call::new(command).check()?;
        let text = folder.display();
        ensure!(container.says(&format!("cat {text}/file"))? == "of the host", "not read");
        let outcome = container.inside(&format!("echo x >{text}/other")).run()?;
        ensure!(outcome.err().contains("Read-only file system"), "{outcome}");
        container.end()?;
    }
    Ok(())
}

/// `rm -r build; mkdir build; cd build; flake`: what was mounted is a folder that is no more.
fn made_anew(host: &ScratchHost) -> Result<()> {
    for (user, options) in [(&ROOT, &[][..]), (&ADA, &[]), (&ADA, &["--userns=keep-id"])] {
        let container = Container::start(host, user, &Image::BOX, options)?;
        let folder = folder(host, user)?;
        container.share(&folder)?;
        let again = |path: &Path| -> Result<()> {
            fs::create_dir_all(path)?;
            fs::write(path.join("new"), "new\n")?;
            chown(path, Some(user.id), Some(user.id))?;
            container.share(path)?;
            ensure!(container.says(&format!("cat {}/new", path.display()))? == "new", "another folder");
            Ok(())
        };
        fs::remove_dir_all(&folder)?;
        again(&folder)?;
        ensure!(container.mounts(&folder)?.len() == 1, "what is no more is still mounted");
        // Now it is the folder above that is no more.
        fs::remove_dir_all(&folder)?;
        again(&folder.join("deeper"))?;
        // Another one of its name, while the first is still there.
        fs::rename(&folder, folder.with_file_name("aside"))?;
        again(&folder)?;
        container.end()?;
    }
    Ok(())
}

/// Only the caller's folder counts, not what has taken its name since.
fn renamed(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA] {
        let container = Container::start(host, user, &Image::BOX, &[])?;
        let folder = folder(host, user)?;
        let aside = folder.with_file_name("aside");
        let mut command = user.command("/usr/bin/bash");
        let script = r#"cd "$1" && mv "$1" "$2" && ln -s /etc "$1" && exec "$3" "$1""#;
        command.args(["-c", script, "bash"]).args([&folder, &aside]).arg(program());
        command.env(crate::grafter::CONTAINER, container.pid.to_string());
        Call::new(command).check()?;
        ensure!(container.says(&format!("ls {}", folder.display()))? == "file", "another folder");
        container.end()?;
    }
    Ok(())
}

/// Mounts of the host, which are shared on most, and those inside have nothing to do with each other.
fn apart(host: &ScratchHost) -> Result<()> {
    for (user, options) in [
        (&ROOT, &["--privileged"][..]),
        (&ADA, &["--privileged"]),
        (&ADA, &["--privileged", "--userns=keep-id"]),
    ] {
        let container = Container::start(host, user, &Image::BOX, options)?;
        let folder = folder(host, user)?;
        let (before, later) = (folder.join("before"), folder.join("later"));
        for path in [&before, &later] {
            fs::create_dir(path)?;
        }
        let [outer, before, later] =
            [&folder, &before, &later].map(|path| path.to_string_lossy().into_owned());
        on_host("/usr/bin/mount", &["--bind", &outer, &outer])?;
        on_host("/usr/bin/mount", &["--make-shared", &outer])?;
        on_host("/usr/bin/mount", &["-t", "tmpfs", "-o", "mode=0777", "before", &before])?;
        fs::write(folder.join("before/file"), "before\n")?;
        container.share(&folder)?;
        on_host("/usr/bin/mount", &["-t", "tmpfs", "later", &later])?;
        ensure!(container.mounts(&folder)?.len() == 2, "{:?}", container.mounts(&folder)?);
        let on_host_now = host_mounts(user)?;
        // A user's container can only do the second: what came from the host together stays together.
        container.says(&format!("umount {before}; mount -t tmpfs inside {later}"))?;
        ensure!(host_mounts(user)? == on_host_now, "the container changes the host's mounts");
        ensure!(fs::read_to_string(folder.join("before/file"))? == "before\n", "it is unmounted on the host");
        container.end()?;
        for path in [&later, &before, &outer] {
            on_host("/usr/bin/umount", &[path])?;
        }
    }
    Ok(())
}

fn at_once(host: &ScratchHost) -> Result<()> {
    for user in [&ROOT, &ADA] {
        let container = Container::start(host, user, &Image::BOX, &[])?;
        let folder = folder(host, user)?;
        let calls: Vec<_> = (0..8)
            .map(|_| Call::new(container.grafting(&folder, &folder)).spawn())
            .collect::<Result<_, _>>()?;
        for call in calls {
            let output = call.wait_with_output()?;
            ensure!(output.status.success(), "{output:?}");
        }
        ensure!(container.says(&format!("ls {}", folder.display()))? == "file", "not there");
        ensure!(fs::metadata(&folder)?.uid() == user.id, "given away");
        container.end()?;
    }
    Ok(())
}
