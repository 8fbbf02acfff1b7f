//! Descriptors and directories that a caller's launcher would never send.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, ROOT};
use flake_wire::{Source, Stream, Window};
use rustix::fs::{CWD, FileType, Mode, OFlags, makedev, mknodat, open};

use super::forge::{self, handoff, with_rights_of};
use super::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("a_forged_call_without_tricks_runs", plain),
    ("a_named_pipe_of_the_caller_works", named_pipe),
    ("a_regular_file_as_a_stream", |ground| {
        let path = ground.directory()?.join("file");
        fs::write(&path, "untouched\n")?;
        let read: OwnedFd = File::open(&path)?.into();
        let write: OwnedFd = OpenOptions::new().append(true).open(&path)?.into();
        stream(ground, &[read, write], "passed a file")?;
        ensure!(fs::read_to_string(&path)? == "untouched\n");
        Ok(())
    }),
    ("a_file_without_a_name_as_a_stream", |ground| {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        stream(ground, &[open("/tmp", flags, Mode::from_raw_mode(0o600))?], "passed a file")
    }),
    ("a_directory_as_a_stream", |ground| {
        let dir = ground.directory()?;
        stream(ground, &[File::open(&dir)?.into(), place(&dir)?], "passed a file")
    }),
    ("a_block_device_as_a_stream", |ground| {
        let path = block_device(ground)?;
        stream(ground, &[place(&path)?], "passed a file")
    }),
    ("a_file_by_its_place_as_a_stream", |ground| {
        stream(ground, &[place(Path::new("/etc/shadow"))?, place(Path::new("/etc/passwd"))?], "passed a file")
    }),
    ("more_descriptors_announced_than_sent", |ground| {
        numbers(ground, 3, 2)?;
        numbers(ground, 1, 0)
    }),
    ("more_descriptors_sent_than_announced", |ground| {
        numbers(ground, 0, 1)?;
        numbers(ground, 2, 60)
    }),
    ("a_terminal_without_a_window_and_a_window_without_a_terminal", terminal),
    ("a_working_directory_that_is_announced_only", |ground| cwd(ground, None, "sent no working directory")),
    ("a_working_directory_that_is_no_directory", |ground| {
        cwd(ground, Some(place(Path::new("/etc/passwd"))?), "no directory")?;
        cwd(ground, Some(std::io::pipe()?.0.into()), "no directory")
    }),
    ("a_working_directory_that_is_closed_to_the_caller", closed),
    ("no_working_directory_where_one_is_shared", |ground| {
        let name = "attacked-here";
        ground.flake(name, &["--share", "cwd"])?;
        forge::call(ground.host, name, &["true"], &handoff(1), &[null()?])?.refused("current directory")?;
        ground.nothing_ran(name)
    }),
];

/// Whether the forger is any good: what is right in all points runs, and is seen to have run.
fn plain(ground: &Ground<'_>) -> Result<()> {
    let name = "forged";
    ground.flake(name, &[])?;
    ground.nothing_ran(name)?;
    forge::call(ground.host, name, &["true"], &handoff(1), &[null()?])?.session()?;
    ensure!(ground.made(name)? == 1, "{} containers were made", ground.made(name)?);
    ground.none_left(name)
}

/// A pipe with a name could be opened again, as a file could; the call works all the same.
fn named_pipe(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("piped", &[])?;
    let script = r#"mkfifo "$1" && { echo word >"$1" & "$0" cat <"$1"; "$0" echo more >"$1" & cat "$1"; }"#;
    let mut command = ADA.command("/bin/bash");
    command.args(["-c", script]).arg(app).arg(ground.directory()?.join("pipe"));
    let outcome = Call::new(command).run()?;
    ensure!(outcome.success() && outcome.out() == "word\nmore\n", "{outcome}");
    Ok(())
}

const ATTACKED: &str = "attacked";

/// Each of the descriptors as standard input, and as standard output beside others that are fine.
fn stream(ground: &Ground<'_>, descriptors: &[OwnedFd], why: &str) -> Result<()> {
    ground.flake(ATTACKED, &[])?;
    for descriptor in descriptors {
        for beside in [vec![descriptor.try_clone()?], vec![null()?, descriptor.try_clone()?, null()?]] {
            let handoff = handoff(u16::try_from(beside.len())?);
            let words = ["sh", "-c", "echo written >/proc/self/fd/0; echo written >/proc/self/fd/1"];
            forge::call(ground.host, ATTACKED, &words, &handoff, &beside)?.refused(why)?;
        }
    }
    ground.nothing_ran(ATTACKED)
}

fn numbers(ground: &Ground<'_>, announced: u16, sent: usize) -> Result<()> {
    ground.flake(ATTACKED, &[])?;
    let beside = (0..sent).map(|_| null()).collect::<Result<Vec<_>>>()?;
    forge::call(ground.host, ATTACKED, &["true"], &handoff(announced), &beside)?.refused("do not match")?;
    ground.nothing_ran(ATTACKED)
}

fn terminal(ground: &Ground<'_>) -> Result<()> {
    ground.flake(ATTACKED, &[])?;
    let mut without = handoff(0);
    without.streams.push(Stream { number: 0, source: Source::Terminal });
    let mut window = handoff(0);
    window.terminal = Some(Window::default());
    for handoff in [without, window] {
        forge::call(ground.host, ATTACKED, &["true"], &handoff, &[])?.refused("do not match")?;
    }
    ground.nothing_ran(ATTACKED)
}

/// The directory comes last, whatever it is.
fn cwd(ground: &Ground<'_>, descriptor: Option<OwnedFd>, why: &str) -> Result<()> {
    let name = "attacked-here";
    ground.flake(name, &["--share", "cwd"])?;
    let mut handoff = handoff(0);
    handoff.has_cwd = true;
    let beside: Vec<_> = descriptor.into_iter().collect();
    forge::call(ground.host, name, &["touch", "written"], &handoff, &beside)?.refused(why)?;
    ground.nothing_ran(name)
}

fn closed(ground: &Ground<'_>) -> Result<()> {
    let dir = ground.directory()?;
    std::os::unix::fs::chown(&dir, Some(ROOT.id), Some(ROOT.id))?;
    fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
    let mark = dir.clone();
    ensure!(with_rights_of(&ADA, move || Ok(fs::read_dir(mark).is_err()))?, "ada can look into it");
    cwd(ground, Some(place(&dir)?), "closed to the caller")?;
    cwd(ground, Some(File::open(&dir)?.into()), "closed to the caller")?;
    ensure!(fs::read_dir(&dir)?.next().is_none(), "something was written");
    Ok(())
}

fn null() -> Result<OwnedFd> {
    Ok(OpenOptions::new().read(true).write(true).open("/dev/null")?.into())
}

/// A descriptor that stands for the place only; having one takes no right to the file itself.
fn place(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(i32::try_from(flags.bits())?).open(path);
    Ok(file.with_context(|| path.display().to_string())?.into())
}

/// One that no driver stands behind, closed to all but root.
fn block_device(ground: &Ground<'_>) -> Result<PathBuf> {
    let path = ground.directory()?.join("device");
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, &path, FileType::BlockDevice, mode, makedev(7, 99)).context("make a device")?;
    Ok(path)
}
