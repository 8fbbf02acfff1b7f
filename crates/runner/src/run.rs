//! One call, from the plan to the end of the command.

use crate::call::{Call, Words};
use crate::child::{self, Prepared, Report};
use crate::error::{RunError, system};
use crate::foreground::{self, Foreground};
use crate::init::{self, Init};
use crate::privileges::Raised;
use crate::scratch::Scratch;
use crate::terminal::Terminal;
use crate::{confine, layers, mounts, network, stops, user_namespace};
use flake_inside::program;
use flake_plan::{Process, Recipe};
use flake_sys::exec::{Descriptors, Program};
use flake_sys::signals::{self, SignalFd};
use flake_wire::{Failure, FailureKind};
use nix::sched::{CloneFlags, clone};
use nix::unistd::{ForkResult, fork};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, getpgrp, getpid, getppid, parent_process_death_signal, pidfd_open,
    set_dumpable_behavior, set_parent_process_death_signal,
};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::system::sethostname;
use rustix::termios::tcgetpgrp;
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

pub use crate::foreground::End;

/// The stack of the command's process until it is executed, in bytes; only what is used of it exists.
const STACK: usize = 1 << 20;

/// Runs a call to its end. The caller has one thread; it is in other namespaces afterwards, with another root, and is
/// expected to end as the command did.
///
/// # Errors
/// [`RunError`]; where [`RunError::is_stale`] nothing has happened.
pub fn run(recipe: &Recipe, call: Call) -> Result<End, RunError> {
    layers::check(&recipe.layers)?;
    mounts::check(recipe)?;
    if let Some(profile) = recipe.process.apparmor.as_ref().filter(|profile| !confine::has_profile(profile)) {
        return Err(RunError::ProfileMissing(profile.clone()));
    }
    let limits = Raised::new();
    let signals = foreground::receive_signals().map_err(system("receive signals"))?;
    let null =
        open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(system("open /dev/null"))?;
    let terminal = Terminal::among(&call.descriptors);
    let in_front = foreground_terminal(&call.descriptors);

    let scratch = || recipe.writes_to_disk.then(|| Scratch::make(&call.scratch)).transpose();
    let scratch = keeping_death_signal(|| user_namespace::enter(&recipe.user, scratch))?;
    // SAFETY: one thread, which shares nothing with another process.
    unsafe { unshare_unsafe(namespaces(recipe)) }.map_err(system("make namespaces"))?;
    if recipe.namespaces.network {
        network::bring_up()?;
    }
    if let Some(name) = &recipe.hostname {
        sethostname(name.as_bytes()).map_err(system("set the host name"))?;
    }
    let own = Own { signals, null, terminal, in_front, limits };
    start(recipe, call, scratch.as_ref(), own)
}

/// What this process keeps for itself.
struct Own {
    signals: SignalFd,
    /// The host's `/dev/null`.
    null: OwnedFd,
    /// A terminal among the command's descriptors.
    terminal: Option<Terminal>,
    /// The terminal in whose foreground this process is.
    in_front: Option<OwnedFd>,
    limits: Raised,
}

/// Does something that has the kernel forget which signal this process is to get when its parent dies: somebody may
/// rely on it.
fn keeping_death_signal<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    let wanted = parent_process_death_signal().ok().flatten();
    let parent = getppid();
    let made = work()?;
    if let Some(signal) = wanted {
        set_parent_process_death_signal(Some(signal)).map_err(system("follow the parent's death"))?;
        if getppid() != parent {
            drop(made);
            signals::die_by(signal.as_raw());
            return Err(system("follow the parent's death")(io::Error::from(io::ErrorKind::NotFound)));
        }
    }
    Ok(made)
}

fn namespaces(recipe: &Recipe) -> UnshareFlags {
    let wanted = recipe.namespaces;
    let mut flags = UnshareFlags::NEWNS | UnshareFlags::NEWPID;
    for (is_wanted, flag) in [
        (wanted.ipc, UnshareFlags::NEWIPC),
        (wanted.uts, UnshareFlags::NEWUTS),
        (wanted.cgroup, UnshareFlags::NEWCGROUP),
        (wanted.network, UnshareFlags::NEWNET),
    ] {
        if is_wanted {
            flags |= flag;
        }
    }
    flags
}

/// The terminal in whose foreground this process is.
fn foreground_terminal(descriptors: &[(u16, OwnedFd)]) -> Option<OwnedFd> {
    let in_front = |(_, fd): &&(u16, OwnedFd)| tcgetpgrp(fd).is_ok_and(|group| group == getpgrp());
    fcntl_dupfd_cloexec(&descriptors.iter().find(in_front)?.1, 3).ok()
}

/// Starts the init and the command, and stays until the command has ended.
fn start(recipe: &Recipe, call: Call, scratch: Option<&Scratch>, own: Own) -> Result<End, RunError> {
    let Own { signals, null, terminal, in_front, limits } = own;
    let passed = call.descriptors.iter().map(|(number, _)| *number).collect();
    let words = words(&call.words, &recipe.process)?;
    let env = environment(&recipe.process, &call.env);
    let cwd = call.cwd.as_deref().unwrap_or(&recipe.process.cwd).as_os_str().as_bytes().to_vec();
    let mut prepared = prepare(recipe, call, (scratch, terminal, limits), &words, &env, &cwd)?;
    let pipe = || pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC).map_err(system("make a pipe"));
    let ((report, reports), (answers, answered)) = (pipe()?, pipe()?);
    let launcher = pidfd_open(getpid(), PidfdFlags::empty()).map_err(system("watch this process"))?;
    // Nothing inside looks into what these two are copies of: neither memory nor descriptors nor the program's file.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(system("close this process to others"))?;
    let secret = secret().map_err(system("make a secret"))?;
    let init = start_init(&Init { launcher, answers: answered, secret })?;
    let terminal = in_front;
    let mut family = Foreground { signals, init, command: init, answers, secret, null, terminal, passed };
    let end = match start_command(&mut prepared, &reports, &family) {
        Ok((command, early)) => {
            family.command = command;
            drop((prepared, reports));
            let report = Report::read(&report);
            if report.is_none() {
                family.let_go();
                early.into_iter().chain(stops::noted()).for_each(|number| family.send(number));
            }
            family.stay().map_err(system("wait for the command")).map(|end| report.map_or(Ok(end), Err))
        }
        Err(error) => Err(error),
    };
    family.clear_up();
    end?.map_err(|report| match report {
        Report::Root(text) => RunError::Root(text),
        Report::Program(error) => RunError::Program(program::failure(&words[0], Some(&cwd), &error)),
    })
}

/// Starts the first process of the namespace.
fn start_init(of_init: &Init) -> Result<Pid, RunError> {
    // SAFETY: this process has one thread; the child ends without returning.
    match unsafe { fork() }.map_err(system("start a process"))? {
        ForkResult::Parent { child } => pid(child),
        ForkResult::Child => init::run(of_init),
    }
}

/// Starts the command and comes back when it is executed or has failed to be, as vfork(2) does: to copy this process'
/// memory for it would take longer than much of what it does.
///
/// Gives the signals as well that came before: nobody but this process has got them.
fn start_command(
    prepared: &mut Prepared<'_>,
    reports: &OwnedFd,
    family: &Foreground,
) -> Result<(Pid, Vec<i32>), RunError> {
    let mut stack = vec![0; STACK];
    // What the child uses stays this process' own, which lets go of it afterwards.
    let run = Box::new(|| child::execute(prepared, reports));
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    let early = family.early().map_err(system("receive signals"))?;
    // SAFETY: this process has one thread, which waits until the child no longer uses its memory; the child has a stack
    // of its own, and ends or becomes another program without returning.
    let child = unsafe { clone(run, &mut stack, flags, Some(nix::libc::SIGCHLD)) };
    Ok((pid(child.map_err(system("start a process"))?)?, early))
}

/// What the init knows and nobody inside.
fn secret() -> io::Result<u32> {
    let mut bytes = [0; 4];
    getrandom(&mut bytes, GetRandomFlags::INSECURE)?;
    Ok(u32::from_ne_bytes(bytes))
}

fn pid(pid: nix::unistd::Pid) -> Result<Pid, RunError> {
    Pid::from_raw(pid.as_raw())
        .ok_or_else(|| system("start a process")(io::Error::from(io::ErrorKind::InvalidData)))
}

fn prepare<'recipe>(
    recipe: &'recipe Recipe,
    mut call: Call,
    (scratch, terminal, limits): (Option<&'recipe Scratch>, Option<Terminal>, Raised),
    words: &[Vec<u8>],
    env: &BTreeMap<Vec<u8>, Vec<u8>>,
    cwd: &[u8],
) -> Result<Prepared<'recipe>, RunError> {
    let path = env.get(&b"PATH"[..]).map(Vec::as_slice);
    let candidates = program::candidates(&words[0], path).map_err(|_| nul("the program's name"))?;
    let pairs = env.iter().map(|(name, value)| [name.as_slice(), b"=", value].concat());
    let program = Program::new(
        candidates,
        strings(words.iter().cloned()).ok_or_else(|| nul("an argument"))?,
        strings(pairs).ok_or_else(|| nul("a variable"))?,
    );
    Ok(Prepared {
        program: program.map_err(system("run the command"))?,
        descriptors: Descriptors::new(std::mem::take(&mut call.descriptors)),
        cwd: CString::new(cwd).map_err(|_| nul("the working directory"))?,
        recipe,
        call,
        scratch,
        terminal,
        limits,
    })
}

fn strings(words: impl Iterator<Item = Vec<u8>>) -> Option<Vec<CString>> {
    words.map(CString::new).collect::<Result<_, _>>().ok()
}

/// The command's words: its own, or what the image was made to run.
fn words(words: &Words, process: &Process) -> Result<Vec<Vec<u8>>, RunError> {
    let images = |words: &[String]| words.iter().map(|word| word.clone().into_bytes()).collect::<Vec<_>>();
    let words = match words {
        Words::Program(program, args) => [std::slice::from_ref(program), args].concat(),
        Words::Image(args) if args.is_empty() => {
            [images(&process.entrypoint), images(&process.command)].concat()
        }
        Words::Image(args) => [images(&process.entrypoint), args.clone()].concat(),
    };
    if words.first().is_none_or(Vec::is_empty) {
        return Err(refused("the image has no entrypoint; register a target, or give a command"));
    }
    Ok(words)
}

/// The recipe's environment with the call's on top.
fn environment(process: &Process, call: &BTreeMap<Vec<u8>, Vec<u8>>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let split = |pair: &String| {
        let (name, value) = pair.split_once('=')?;
        Some((name.as_bytes().to_vec(), value.as_bytes().to_vec()))
    };
    let mut env: BTreeMap<_, _> = process.env.iter().filter_map(split).collect();
    env.extend(call.iter().map(|(name, value)| (name.clone(), value.clone())));
    // As every OCI runtime does for a user that the image does not know.
    env.entry(b"HOME".to_vec()).or_insert_with(|| b"/".to_vec());
    env
}

fn nul(what: &str) -> RunError {
    refused(&format!("{what} contains a NUL byte"))
}

fn refused(message: &str) -> RunError {
    RunError::Program(Failure { kind: FailureKind::Other, message: message.to_owned() })
}
