//! A running command and how it is started.

use crate::connection::Link;
use crate::framed::Framed;
use crate::image::Image;
use crate::script::Script;
use flake_inside::{account, program};
use flake_sys::pty::{self, Pty};
use flake_sys::reason::reason;
use flake_sys::signals::{self, SignalSet};
use flake_sys::spawn::{self, Event, Ids, Leader, Stage};
use flake_wire::{Closing, Exec, Failure, FailureKind, Modes, Program, Reply, SignalTarget, Source, Window};
use rustix::fs::fchown;
use rustix::process::{Signal, Uid};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
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
    /// The pty's master, for the window's size.
    terminal: Option<OwnedFd>,
    pub(crate) framed: Vec<Framed>,
    /// Set once the command has ended, while its output is still on its way.
    closing: Option<Closing>,
}

impl Command {
    /// Starts what the launcher asks for and tells it so.
    pub(crate) fn start(exec: Exec, image: &Image, link: &mut Link) -> Result<Self, Failure> {
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
        let pty = exec.terminal.map(|window| open_terminal(window, &exec)).transpose()?;
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
            let mut failure = program::failure(&words[0], exec.cwd.as_deref(), &error);
            if is_script && error.stage == Stage::Execute {
                failure.message.insert_str(0, "the script's interpreter ");
            }
            failure
        })?;
        let pid = u32::try_from(running.pid).unwrap_or(0);
        link.say_beside(&Reply::Started { pid }, master);
        Ok(Self { pid: running.pid, leader: running.leader, terminal: keep, framed, closing: None })
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    pub(crate) fn leader(&self) -> Option<&Leader> {
        self.leader.as_ref()
    }

    /// How it ended, once it has and all its output is on its way.
    pub(crate) fn ended(&self) -> Option<Closing> {
        self.closing.filter(|_| !self.framed.iter().any(Framed::is_open_output))
    }

    /// The command itself was seen to end.
    pub(crate) fn close(&mut self, closing: Closing, link: &mut Link) {
        self.closing.get_or_insert(closing);
        self.leader = None;
        self.drain(link);
    }

    /// After the end: what is left in the pipes.
    pub(crate) fn drain(&mut self, link: &mut Link) {
        if self.closing.is_some() {
            for stream in &mut self.framed {
                stream.drain(link);
            }
        }
    }

    /// Reads what the leader tells; blocks unless there is something.
    pub(crate) fn follow_leader(&mut self, link: &mut Link) {
        let Some(leader) = &mut self.leader else { return };
        match leader.next_event() {
            Ok(Some(Event::Stopped(signal))) => link.say(&Reply::Stopped { signal: narrow(signal) }),
            Ok(Some(Event::Exited(status))) => self.close(Closing::Exited(narrow(status)), link),
            Ok(Some(Event::Killed(signal))) => self.close(Closing::Killed(narrow(signal)), link),
            // The leader is gone before its command: that is now the agent's own child.
            Ok(None) | Err(_) => self.leader = None,
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

    pub(crate) fn resize(&self, window: Window) {
        if let Some(terminal) = &self.terminal {
            let _ = tcsetwinsize(terminal, winsize(window));
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
fn environment(call: &[(Vec<u8>, Vec<u8>)]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let own = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    let own = own.filter(|(name, _)| !OWN_VARIABLES.contains(&name.as_slice()));
    own.chain(call.iter().cloned()).collect()
}

fn pairs(env: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<Vec<u8>> {
    env.iter().map(|(name, value)| [name.as_slice(), b"=", value].concat()).collect()
}

fn strings(words: &[Vec<u8>]) -> Result<Vec<CString>, ()> {
    words.iter().map(|word| CString::new(word.as_slice()).map_err(|_| ())).collect()
}

fn open_terminal(window: Window, exec: &Exec) -> Result<Pty, Failure> {
    let pty = pty::open().map_err(|error| Failure {
        kind: FailureKind::Other,
        message: format!("cannot open a terminal inside: {}", reason(&error)),
    })?;
    let _ = tcsetwinsize(&pty.slave, winsize(window));
    // Programs open it again by its name.
    if let Some(user) = &exec.user {
        let _ = fchown(&pty.slave, Some(Uid::from_raw(user.uid)), None);
    }
    if let (Some(modes), Ok(mut current)) = (&exec.modes, tcgetattr(&pty.slave)) {
        apply(modes, &mut current);
        let _ = rustix::termios::tcsetattr(&pty.slave, rustix::termios::OptionalActions::Now, &current);
    }
    Ok(pty)
}

fn apply(modes: &Modes, termios: &mut Termios) {
    use rustix::termios::{ControlModes, InputModes, LocalModes, OutputModes};
    termios.input_modes = InputModes::from_bits_retain(modes.input);
    termios.output_modes = OutputModes::from_bits_retain(modes.output);
    termios.control_modes = ControlModes::from_bits_retain(modes.control);
    termios.local_modes = LocalModes::from_bits_retain(modes.local);
    flake_sys::pty::set_characters(termios, &modes.characters);
}

fn winsize(window: Window) -> Winsize {
    Winsize { ws_row: window.rows, ws_col: window.columns, ws_xpixel: window.width, ws_ypixel: window.height }
}

type Descriptors = (Vec<(u16, OwnedFd)>, Vec<Framed>);

/// The command's descriptors, and the agent's ends of the framed ones.
fn streams(exec: &Exec, pty: Option<&Pty>, link: &mut Link) -> Result<Descriptors, Failure> {
    let mut descriptors = Vec::new();
    let mut framed = Vec::new();
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
fn narrow(number: i32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn other(error: &io::Error) -> Failure {
    refused(&reason(error))
}

fn nul(what: &str) -> Failure {
    refused(&format!("{what} contains a NUL byte"))
}

fn refused(message: &str) -> Failure {
    Failure { kind: FailureKind::Other, message: message.to_owned() }
}
