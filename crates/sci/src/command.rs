//! A running command and how it is started.

use crate::connection::Link;
use crate::framed::Framed;
use crate::image::Image;
use crate::script::{self, Script};
use crate::terminal;
use flake_inside::{account, program};
use flake_sys::pty::Pty;
use flake_sys::reap::Change;
use flake_sys::reason::reason;
use flake_sys::signals::{self, SignalSet};
use flake_sys::spawn::{self, Event, Ids, Leader, SpawnError};
use flake_wire::{
    Closing, Exec, FDS_MAX, Failure, FailureKind, Program, Reply, SignalTarget, Source, Window,
};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;

/// Set by podman for the descriptor it hands to the agent; nothing for commands.
const OWN_VARIABLES: [&[u8]; 3] = [b"LISTEN_FDS", b"LISTEN_PID", b"LISTEN_FDNAMES"];

/// A command that runs, with its framed streams.
#[derive(Debug)]
pub(crate) struct Command {
    pid: i32,
    leader: Option<Leader>,
    /// The pty's master, for the window's size, and on the shared terminal for all that goes through it.
    terminal: Option<OwnedFd>,
    pub(crate) framed: Vec<Framed>,
    /// Set once the command has ended, while its output is still on its way.
    closing: Option<Closing>,
}

impl Command {
    /// Starts what the launcher asks for and tells it so.
    pub(crate) fn start(exec: Exec, image: &Image, link: &mut Link) -> Result<Self, Failure> {
        let (command, master) = Self::begin(exec, image, link)?;
        link.say_beside(&Reply::Started { pid: command.shown_pid() }, master);
        Ok(command)
    }

    /// Starts a command; its terminal's master, if it has one, comes back with it.
    pub(crate) fn begin(
        exec: Exec,
        image: &Image,
        link: &mut Link,
    ) -> Result<(Self, Option<OwnedFd>), Failure> {
        check_cwd(&exec)?;
        let script = match &exec.program {
            Program::Script(text) => Some(Script::new(text, &exec.streams)?),
            Program::Image | Program::Path(_) => None,
        };
        let words = words(&exec, image, script.as_ref())?;
        let env = environment(&exec.env);
        let path = env.get(&b"PATH"[..]).map(Vec::as_slice);
        let candidates = program::candidates(&words[0], path).map_err(|_| nul("the program's name"))?;
        if let Some(account) = &exec.account {
            account::make(account);
        }
        let pty = exec.terminal.map(|window| terminal::open(window, &exec)).transpose()?;
        let (mut descriptors, framed) = streams(&exec, pty.as_ref(), link)?;
        let is_script = script.is_some();
        descriptors.extend(script.map(|script| (script.number, script.text)));
        let (master, slave) = pty.map_or((None, None), |pty| (Some(pty.master), Some(pty.slave)));
        let keep = master.as_ref().map(OwnedFd::try_clone).transpose().map_err(|error| other(&error))?;
        let command = spawn::Command {
            candidates,
            argv: strings(&words).map_err(|()| nul("an argument"))?,
            env: strings(&pairs(&env)).map_err(|()| nul("a variable"))?,
            cwd: exec.cwd.clone().map(CString::new).transpose().map_err(|_| nul("the working directory"))?,
            ids: exec.user.map(|ids| Ids { uid: ids.uid, gid: ids.gid, groups: ids.groups }),
            umask: exec.umask,
            ignored: SignalSet::from_bits(exec.ignored),
            blocked: SignalSet::from_bits(exec.blocked),
            descriptors,
            terminal: slave,
        };
        let running = spawn::spawn(command).map_err(|error| {
            let failure = if is_script { script::failure } else { program_failure };
            failure(&words, exec.cwd.as_deref(), &error)
        })?;
        let command =
            Self { pid: running.pid, leader: running.leader, terminal: keep, framed, closing: None };
        Ok((command, master))
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// The process id for a message.
    pub(crate) fn shown_pid(&self) -> u32 {
        u32::try_from(self.pid).unwrap_or(0)
    }

    pub(crate) fn leader(&self) -> Option<&Leader> {
        self.leader.as_ref()
    }

    /// How it ended, once it has and all its output is on its way.
    pub(crate) fn ended(&self) -> Option<Closing> {
        self.closing.filter(|_| !self.framed.iter().any(Framed::is_open_output))
    }

    /// The command itself was seen to change; the signal is returned when it was stopped.
    pub(crate) fn changed(&mut self, change: Change) -> Option<u8> {
        let closing = match change {
            Change::Stopped(signal) => return Some(narrow(signal)),
            Change::Exited(status) => Closing::Exited(narrow(status)),
            Change::Killed(signal) => Closing::Killed(narrow(signal)),
        };
        self.closing.get_or_insert(closing);
        self.leader = None;
        None
    }

    /// After the end: what is left in the pipes.
    pub(crate) fn drain(&mut self, link: &mut Link) {
        if self.closing.is_some() {
            for stream in &mut self.framed {
                stream.drain(link);
            }
        }
    }

    /// What the leader tells; blocks unless there is something.
    pub(crate) fn follow_leader(&mut self) -> Option<Change> {
        match self.leader.as_mut()?.next_event() {
            Ok(Some(Event::Stopped(signal))) => Some(Change::Stopped(signal)),
            Ok(Some(Event::Exited(status))) => Some(Change::Exited(status)),
            Ok(Some(Event::Killed(signal))) => Some(Change::Killed(signal)),
            // The leader is gone before its command: that is now the agent's own child.
            Ok(None) | Err(_) => {
                self.leader = None;
                None
            }
        }
    }

    pub(crate) fn signal(&self, number: i32, target: SignalTarget) {
        if self.closing.is_none() {
            let _ = signals::send(self.pid, number, target == SignalTarget::Group);
        }
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT.as_raw(), SignalTarget::Group);
    }

    /// Lets go of the terminal; the other reference to its master is the launcher's.
    pub(crate) fn hang_up(&mut self) {
        self.terminal = None;
    }

    /// The terminal's master.
    pub(crate) fn terminal(&self) -> Option<&OwnedFd> {
        self.terminal.as_ref()
    }

    pub(crate) fn resize(&self, window: Window) {
        if let Some(terminal) = &self.terminal {
            terminal::set_window(terminal, window);
        }
    }
}

/// The command's words: its own, what the image was made to run, or a script's.
fn words(exec: &Exec, image: &Image, script: Option<&Script>) -> Result<Vec<Vec<u8>>, Failure> {
    match &exec.program {
        Program::Image => image.command(&exec.args),
        Program::Path(path) => Ok([std::slice::from_ref(path), &exec.args].concat()),
        Program::Script(_) => {
            Ok([script.map(|script| script.words.as_slice()).unwrap_or_default(), &exec.args].concat())
        }
    }
}

fn program_failure(words: &[Vec<u8>], cwd: Option<&[u8]>, error: &SpawnError) -> Failure {
    program::failure(&words[0], cwd, error)
}

/// Whether the working directory is the folder that the caller means.
fn check_cwd(exec: &Exec) -> Result<(), Failure> {
    let (Some(path), Some(expected)) = (&exec.cwd, exec.cwd_is) else { return Ok(()) };
    let found = rustix::fs::stat(path.as_slice()).map(|stat| (stat.st_dev, stat.st_ino));
    if found == Ok(expected) {
        return Ok(());
    }
    let message = format!("the working directory {} is another folder inside", String::from_utf8_lossy(path));
    Err(Failure { kind: FailureKind::NotShared, message })
}

/// The agent's environment, which is the image's, with the call's on top.
pub(crate) fn environment(call: &[(Vec<u8>, Vec<u8>)]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let own = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    let own = own.filter(|(name, _)| !OWN_VARIABLES.contains(&name.as_slice()));
    own.chain(call.iter().cloned()).collect()
}

pub(crate) fn pairs(env: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<Vec<u8>> {
    env.iter().map(|(name, value)| [name.as_slice(), b"=", value].concat()).collect()
}

pub(crate) fn strings(words: &[Vec<u8>]) -> Result<Vec<CString>, ()> {
    words.iter().map(|word| CString::new(word.as_slice()).map_err(|_| ())).collect()
}

type Descriptors = (Vec<(u16, OwnedFd)>, Vec<Framed>);

/// The command's descriptors, and the agent's ends of the framed ones.
fn streams(exec: &Exec, pty: Option<&Pty>, link: &mut Link) -> Result<Descriptors, Failure> {
    let mut descriptors = Vec::new();
    let mut framed = Vec::new();
    // As many as can be passed, and three that are the terminal.
    if exec.streams.len() > FDS_MAX + 3 {
        return Err(refused("more descriptors than a command may be given"));
    }
    for stream in &exec.streams {
        let descriptor = match stream.source {
            Source::Passed => {
                link.take_passed().ok_or_else(|| refused("a descriptor was announced that did not come"))?
            }
            Source::Terminal => {
                let pty = pty.ok_or_else(|| refused("a terminal stream without a terminal"))?;
                pty.slave.try_clone().map_err(|error| other(&error))?
            }
            Source::Framed(direction) => {
                let (ours, theirs) = Framed::new(stream.number, direction).map_err(|error| other(&error))?;
                framed.push(ours);
                theirs
            }
        };
        descriptors.push((stream.number, descriptor));
    }
    Ok((descriptors, framed))
}

/// Statuses and signal numbers fit a byte.
pub(crate) fn narrow(number: i32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

pub(crate) fn other(error: &io::Error) -> Failure {
    refused(&reason(error))
}

pub(crate) fn nul(what: &str) -> Failure {
    refused(&format!("{what} contains a NUL byte"))
}

pub(crate) fn refused(message: &str) -> Failure {
    Failure { kind: FailureKind::Other, message: message.to_owned() }
}
