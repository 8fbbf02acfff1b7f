//! The user namespace of a normal user's launch: podman's own for that user, and within it the flake's.

use crate::error::{RunError, system};
use crate::idmap;
use flake_plan::{IdMap, UserSpace};
use flake_sys::helper;
use flake_sys::reason::reason;
use nix::unistd::{setfsgid, setfsuid};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Longer files of a number are none, in bytes.
const MOST: u64 = 4096;

type Maps = (Vec<IdMap>, Vec<IdMap>);

/// Enters the namespace. This process has one thread. `as_root` is done as the root of all ids that the user has.
pub(crate) fn enter<T>(
    space: &UserSpace,
    as_root: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    let UserSpace::Own { outer, inner } = space else { return as_root() };
    if join_podmans(outer).is_none() {
        make(outer, map_by_programs)?;
    }
    let made = as_root()?;
    if let Some(inner) = inner {
        make(inner, map_by_writing)?;
        // What is made from now on belongs to the root of the namespace; this process stays its user's, who can
        // still send it signals.
        setfsgid(0.into());
        setfsuid(0.into());
    }
    Ok(made)
}

/// Joins the namespace that podman keeps for this user, if it is there and is as expected: the programs that make one
/// need longer than everything else.
fn join_podmans(maps: &Maps) -> Option<()> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)?;
    let pid = read(File::open(folder.join("libpod/tmp/pause.pid")).ok()?).ok()?;
    let pid: u32 = pid.trim().parse().ok()?;
    let process = open(format!("/proc/{pid}"), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let file = |name: &str| openat(&process, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let space = file("ns/user").ok()?;
    let is_same = |name, maps: &[IdMap]| {
        file(name).is_ok_and(|file| read(File::from(file)).is_ok_and(|text| idmap::is_same(maps, &text)))
    };
    if !is_same("uid_map", &maps.0) || !is_same("gid_map", &maps.1) {
        return None;
    }
    // Only the owner of a namespace may.
    move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::User)).ok()
}

fn read(file: File) -> io::Result<String> {
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// Makes a namespace; its maps are written from outside of it by a process that stays there.
fn make(maps: &Maps, map: fn(u32, &Maps) -> Result<(), String>) -> Result<(), RunError> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(system("make a pipe"));
    let ((made, makes), (said, says)) = (pipe()?, pipe()?);
    let (mut makes, mut said) = (Some(makes), Some(said));
    let own = std::process::id();
    let helper = helper::start(|| {
        // The ends of this process' parent.
        (makes, said) = (None, None);
        // Nothing is mapped before the namespace is there, and nothing at all when it is not.
        let is_made = File::from(made).read(&mut [0]).is_ok_and(|count| count == 1);
        let result = if is_made { map(own, maps) } else { Ok(()) };
        let failed = u8::from(result.is_err());
        if let Err(text) = result {
            let _ = File::from(says).write_all(text.as_bytes());
        }
        failed
    })
    .map_err(system("start a process"))?;
    // SAFETY: the process has one thread and no other that it shares anything with.
    let unshared = unsafe { unshare_unsafe(UnshareFlags::NEWUSER) };
    if unshared.is_ok() {
        // Else the maps belong to the host's root.
        set_dumpable_behavior(DumpableBehavior::Dumpable).map_err(system("stay open to the helper"))?;
        let _ = makes.take().map(|makes| File::from(makes).write_all(&[1]));
    }
    drop(makes);
    let mut text = String::new();
    let _ = said.map(|said| File::from(said).take(MOST).read_to_string(&mut text));
    let status = helper.finish().map_err(system("wait for a process"))?;
    match unshared {
        Err(error @ (Errno::PERM | Errno::NOSPC | Errno::USERS)) => {
            return Err(RunError::NoUserNamespace(error.into()));
        }
        unshared => unshared.map_err(system("make a user namespace"))?,
    }
    if status == Some(0) {
        return Ok(());
    }
    let said = if text.is_empty() { "no reason was given".to_owned() } else { text.trim().to_owned() };
    Err(RunError::Map { said })
}

/// By the programs that may use a user's subordinate ids, both at once.
fn map_by_programs(pid: u32, maps: &Maps) -> Result<(), String> {
    let start = |program: &'static str, maps: &[IdMap]| {
        let mut command = Command::new(program);
        command.arg(pid.to_string()).args(idmap::words(maps)).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::piped()).spawn();
        child.map(|child| (program, child)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("{program} is not installed; try: apt-get install uidmap"),
            _ => format!("cannot run {program}: {}", reason(&error)),
        })
    };
    let running = [start("newuidmap", &maps.0)?, start("newgidmap", &maps.1)?];
    for (program, child) in running {
        let output = child.wait_with_output().map_err(|error| format!("{program}: {}", reason(&error)))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{program} failed: {}", said.trim().lines().last().unwrap_or_default()));
        }
    }
    Ok(())
}

/// By this process, whose namespace has the ids.
fn map_by_writing(pid: u32, maps: &Maps) -> Result<(), String> {
    for (name, maps) in [("uid_map", &maps.0), ("gid_map", &maps.1)] {
        let path = format!("/proc/{pid}/{name}");
        // The kernel takes a map in one write only.
        let write = || File::options().write(true).open(&path)?.write_all(idmap::lines(maps).as_bytes());
        write().map_err(|error| format!("cannot write {path}: {}", reason(&error)))?;
    }
    Ok(())
}
