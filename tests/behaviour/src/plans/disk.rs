//! Launches that write to disk: what is written is there, and nothing of it is left, also of those that are killed.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Child;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, BOB, Call, Image, processes, until};
use nix::sys::signal::Signal;

use super::crowd::at_once;
use super::ground::{Case, Flake, Ground, counted, failed, works};
use super::killed::at_any_moment;
use crate::root_disk::{RootDisk, shell};

/// Alone, since the folder is everybody's.
pub(super) const ALONE: &[Case] = &[
    ("disk_what_is_written_is_there", written),
    ("disk_folders_of_the_image_are_made_anew", made_anew),
    ("disk_what_killed_launches_left", left),
    ("disk_a_place_of_somebody_else", place),
    ("disk_is_full", full),
    ("disk_of_another_kind", kind),
    ("disk_a_hundred_at_once", crowd),
    ("torture_disk_a_launch_killed_at_any_moment", any_moment),
];

const ROUNDS: u32 = 4;
/// A folder so deep, made from the innermost on, that its path is longer than the kernel takes in one.
const DEEP: &str = "d=$(printf %0200d 0); mkdir $d; i=0; \
                    while [ $i -lt 60 ]; do mkdir n; mv $d n; mv n $d; i=$((i+1)); done";

/// What the cases stand on: a flake that writes to disk.
struct Disk<'a> {
    ground: &'a Ground<'a>,
    flake: Flake<'a>,
    /// Where launches have a folder each.
    place: PathBuf,
    _root: Option<RootDisk>,
}

impl<'a> Disk<'a> {
    fn of(ground: &'a Ground<'a>, options: &[&str]) -> Result<Self> {
        let image = Image {
            name: "written-to-disk",
            files: &[("/data/sub/file", "of the image\n"), ("/data/other", "of the image\n")],
            ..Image::BOX
        };
        let root = (ground.way.caller.id == 0).then(|| RootDisk::mounted(ground.host)).transpose()?;
        let options = [&["--scratch", "disk"], options].concat();
        let flake = ground.flake_with(&image, &options)?;
        let disk = Self { ground, flake, place: ground.state().join("scratch"), _root: root };
        disk.is_empty()?;
        let plan = ground.host.flake_ctl(ground.way.caller, ["plan", &disk.flake.name]).check()?.out();
        ensure!(plan.contains("root: writable, on disk, thrown away\n"), "{plan}");
        Ok(disk)
    }

    fn folders(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.place)?;
        Ok(entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?)
    }

    fn is_empty(&self) -> Result<()> {
        let folders = self.folders()?;
        ensure!(folders.is_empty(), "{folders:?}");
        Ok(())
    }

    /// Runs a script that stays, and waits until it does.
    fn up(&self, script: &str) -> Result<(Child, String)> {
        let mark = self.ground.host.mark();
        let script = format!("{script}; touch /{mark}; sleep {mark}");
        let child = Call::new(self.flake.command(&["sh", "-ec", &script])).spawn()?;
        let is_up = || {
            let mut folders = self.folders().unwrap_or_default().into_iter();
            folders.any(|folder| folder.join("upper").join(&mark).exists()).then_some(())
        };
        until("the app", is_up, || format!("{:?}", self.folders()))?;
        Ok((child, mark))
    }

    /// The same, and kills the launcher: its folder is left.
    fn killed(&self, script: &str) -> Result<()> {
        let (mut child, mark) = self.up(script)?;
        processes::kill(child.id(), Signal::SIGKILL);
        child.wait()?;
        Ok(processes::until_gone(&mark)?)
    }
}

fn written(ground: &Ground<'_>) -> Result<()> {
    let disk = Disk::of(ground, &[])?;
    let (mut child, mark) = disk.up("dd if=/dev/zero of=/big bs=1M count=100 2>/dev/null")?;
    let folders = disk.folders()?;
    ensure!(folders.len() == 1, "{folders:?}");
    let own = fs::metadata(&folders[0])?;
    ensure!((own.uid(), own.mode() & 0o7777) == (ground.way.caller.id, 0o700), "{own:?}");
    let big = fs::metadata(folders[0].join("upper/big"))?;
    ensure!(big.len() == 100 << 20 && big.blocks() >= 100 << 11, "{big:?}");
    processes::kill(child.id(), Signal::SIGTERM);
    child.wait()?;
    processes::until_gone(&mark)?;
    disk.is_empty()?;
    // Whatever a script leaves, a link out of it too.
    let script = format!("mkdir /a; cd /a; chmod 0 /a; ln -s /data /l; mkfifo /p; {DEEP}");
    let outcome = disk.flake.call(&["sh", "-ec", &script])?;
    ensure!(outcome.success(), "{outcome}");
    disk.is_empty()?;
    let outcome = disk.flake.call(&["/nowhere"])?;
    ensure!(outcome.code != Some(0), "{outcome}");
    disk.is_empty()
}

/// An overlay notes in attributes of what it writes that a folder of the image is hidden.
fn made_anew(ground: &Ground<'_>) -> Result<()> {
    let disk = Disk::of(ground, &[])?;
    let script = "rm -r /data; mkdir -p /data/sub; touch /data/new; find /data | sort; \
                  mv /data/sub /moved; mkdir /data/sub; ls /data /moved; umask; stat -c '%a %u:%g' / /data";
    let found = disk.flake.prints(script)?;
    let expected = "/data\n/data/new\n/data/sub\n/data:\nnew\nsub\n\n/moved:\n0022\n";
    ensure!(found.starts_with(expected) && found.ends_with("755 0:0"), "{found}");
    let moved = "mv /bin/../data/sub /data/renamed && cat /data/renamed/file; chown 12:34 /data/other; \
                 stat -c %u:%g /data/other; setfacl 2>/dev/null; ln /data/other /data/linked; stat -c %h /data/other";
    let found = disk.flake.prints(moved)?;
    ensure!(found == "of the image\n12:34\n2", "{found}");
    // Nothing of it is in the image, or in the next launch.
    let found = disk.flake.prints("cat /data/sub/file; ls /data")?;
    ensure!(found == "of the image\nother\nsub", "{found}");
    disk.is_empty()
}

/// The next launch removes it, whatever belongs to whom; so do planning and removing.
fn left(ground: &Ground<'_>) -> Result<()> {
    let disk = Disk::of(ground, &[])?;
    let script = format!(
        "mkdir /mine; chown 12:34 /mine; touch /mine/file; chmod 0 /mine; rm -r /data; cd /tmp; {DEEP}"
    );
    let is_left = || -> Result<()> {
        for _ in 0..2 {
            disk.killed(&script)?;
        }
        // The second launch has removed what the first has left.
        let folders = disk.folders()?;
        ensure!(folders.len() == 1, "{folders:?}");
        Ok(())
    };
    is_left()?;
    works(&disk.flake.echo()?)?;
    disk.is_empty()?;
    // One that lives stays as it is.
    is_left()?;
    let (mut child, mark) = disk.up("echo here >/here")?;
    works(&disk.flake.echo()?)?;
    let folders = disk.folders()?;
    ensure!(folders.len() == 1 && fs::read_to_string(folders[0].join("upper/here"))? == "here\n");
    processes::kill(child.id(), Signal::SIGKILL);
    child.wait()?;
    processes::until_gone(&mark)?;
    let caller = ground.way.caller;
    ground.host.flake_ctl(caller, ["plan", "--renew", &disk.flake.name]).check()?;
    disk.is_empty()?;
    is_left()?;
    if ground.way.owner.id == caller.id {
        let app = disk.flake.app.to_string_lossy();
        ground.host.flake_ctl(caller, ["remove", "--app", &app]).check()?;
        disk.is_empty()?;
    } else {
        works(&disk.flake.echo()?)?;
    }
    Ok(())
}

/// The folder is closed to everybody else, or no launch uses it.
fn place(ground: &Ground<'_>) -> Result<()> {
    let disk = Disk::of(ground, &[])?;
    let place = &disk.place;
    let others = PathBuf::from(format!("/tmp/others-{}", ground.host.mark()));
    fs::create_dir(&others)?;
    fs::set_permissions(&others, Permissions::from_mode(0o777))?;
    let is_refused = |what: &str, script: &str| -> Result<()> {
        let mut command = disk.flake.within(script, &[place, &others]);
        command.current_dir("/");
        failed(&Call::new(command).run()?, &place.display().to_string()).context(what.to_owned())?;
        ensure!(fs::read_dir(&others)?.count() == 0, "{what}: something was made there");
        Ok(())
    };
    is_refused("open to others", r#"mount --bind "$2" "$1""#)?;
    std::os::unix::fs::chown(&others, Some(BOB.id), Some(BOB.id))?;
    is_refused("somebody else's", r#"mount --bind "$2" "$1""#)?;
    fs::set_permissions(&others, Permissions::from_mode(0o700))?;
    is_refused("somebody else's, closed", r#"mount --bind "$2" "$1""#)?;
    is_refused("nothing can be made", r#"mount --bind "$1" "$1"; mount -o remount,bind,ro "$1""#)?;
    if ground.way.caller.id == 0 {
        works(&disk.flake.echo()?)?;
        return Ok(fs::remove_dir(&others)?);
    }
    // The caller's own parent folder takes a link.
    std::os::unix::fs::chown(&others, Some(ADA.id), Some(ADA.id))?;
    fs::remove_dir(place)?;
    symlink(&others, place)?;
    failed(&disk.flake.echo()?, &place.display().to_string()).context("a link")?;
    fs::remove_file(place)?;
    fs::write(place, "")?;
    failed(&disk.flake.echo()?, &place.display().to_string()).context("a file")?;
    fs::remove_file(place)?;
    ensure!(fs::read_dir(&others)?.count() == 0);
    works(&disk.flake.echo()?)?;
    Ok(fs::remove_dir(&others)?)
}

/// The application's own error while it runs; the launcher's before.
fn full(ground: &Ground<'_>) -> Result<()> {
    let disk = Disk::of(ground, &[])?;
    let small = |script: &str| {
        let id = ground.way.caller.id;
        let mount = format!("mount -t tmpfs -o size=1m,mode=700,uid={id},gid={id} tmpfs \"$1\"");
        Ok::<_, anyhow::Error>(
            Call::new(disk.flake.within(&format!("{mount}; {script}"), &[&disk.place])).run()?,
        )
    };
    works(&small(":")?)?;
    let outcome = small(r#"dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null || :"#)?;
    failed(&outcome, "no space left")?;
    let id = ground.way.caller.id;
    let mount = format!("mount -t tmpfs -o size=1m,mode=700,uid={id},gid={id} tmpfs \"$1\"");
    shell(&mount, &[&disk.place])?;
    let outcome = disk.flake.call(&["dd", "if=/dev/zero", "of=/big", "bs=1M", "count=4"]);
    let is_empty = disk.is_empty();
    shell("umount \"$1\"", &[&disk.place])?;
    let outcome = outcome?;
    ensure!(outcome.code == Some(1) && outcome.err().contains("No space left"), "{outcome}");
    is_empty?;
    works(&disk.flake.echo()?)
}

/// A file system that no overlay can write to.
fn kind(ground: &Ground<'_>) -> Result<()> {
    let disk = Disk::of(ground, &[])?;
    let id = ground.way.caller.id;
    let script = format!(
        r#"o=$(mktemp -d); mount -t tmpfs tmpfs $o; mkdir $o/l $o/u $o/w; chmod 700 $o/l $o/u
        chown {id}:{id} $o/l $o/u
        mount -t overlay -o lowerdir=$o/l,upperdir=$o/u,workdir=$o/w overlay "$1""#
    );
    let outcome = Call::new(disk.flake.within(&script, &[&disk.place])).run()?;
    failed(&outcome, &disk.place.display().to_string())?;
    ensure!(outcome.err().contains("takes no overlay; see: df -T "), "{outcome}");
    works(&disk.flake.echo()?)
}

fn crowd(ground: &Ground<'_>) -> Result<()> {
    let disk = Disk::of(ground, &[])?;
    disk.killed("touch /tmp/left")?;
    let outcomes = at_once(&disk.flake, |_| vec!["true".to_owned()], |call| call)?;
    let is_silent =
        outcomes.iter().all(|one| one.success() && one.stdout.is_empty() && one.stderr.is_empty());
    ensure!(is_silent, "{}", counted(&outcomes));
    works(&disk.flake.echo()?)?;
    disk.is_empty()
}

/// Only a launcher that is killed leaves its folder, to the next.
fn any_moment(ground: &Ground<'_>) -> Result<()> {
    // The files belong to other ids.
    let disk = Disk::of(ground, &["--as-caller"])?;
    let call = |words: &[&str]| Call::new(disk.flake.command(words));
    at_any_moment(ground, &disk.flake, (call, ROUNDS), |signal| {
        if signal == Signal::SIGKILL {
            ensure!(disk.folders()?.len() <= 1, "{:?}", disk.folders());
            // It may hold the lock a moment longer than the launcher.
            let inits = || processes::all().into_iter().filter(|one| one.name == "flake-init").count();
            until("the end of the init", || (inits() == 0).then_some(()), || inits().to_string())?;
            works(&disk.flake.echo()?)?;
        }
        disk.is_empty()
    })
}
