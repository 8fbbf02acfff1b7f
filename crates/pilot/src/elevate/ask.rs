//! The caller's side.

use super::message::{self, Receiver};
use crate::ending::{Ending, Refusal};
use crate::kept::manage;
use crate::{install, report, run};
use flake_core::caller::Caller;
use flake_core::instance::{FlakeVerb, KeptCall};
use flake_core::registry::Registration;
use flake_engine::rendezvous::Rendezvous;
use flake_engine::session::{Files, Session, Streams, Surroundings};
use flake_engine::{Outcome, Started, Starter};
use flake_schema::InstanceName;
use flake_sys::inherited;
use flake_sys::peer;
use flake_sys::reason::reason;
use flake_sys::signals::{self, SignalFd, is_deadly, is_stop};
use flake_tools::sudo;
use flake_wire::{Handed, Handoff};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

/// Runs a call of a flake that runs as root, for a caller who is not root.
pub(crate) fn run_elevated(
    words: &[OsString],
    registration: &Registration,
    caller: &Caller,
) -> Result<Ending, Refusal> {
    let name = registration.loaded.name.as_str();
    if registration.loaded.flake.lifetime.is_mutable() {
        let call = KeptCall::divide(name, words[1..].iter().cloned(), |_| false)?;
        // Root's side asks nobody.
        if call.verb == FlakeVerb::Update {
            let label = call.instance.as_ref().map_or(name, InstanceName::as_str);
            if let Some(ending) = manage::may_remake(&registration.loaded.name, label)? {
                return Ok(ending);
            }
        }
    }
    let sudo = sudo::find()?;
    let mut streams = Streams::gather(&words[1..], Files::Relayed)?;
    let rendezvous = Rendezvous::open(caller.xdg("XDG_RUNTIME_DIR"))
        .map_err(|error| Refusal::Other(format!("cannot make a socket for sudo: {}", reason(&error))))?;
    let launcher = install::privileged().map_err(own_program)?;
    let arguments = [OsStr::new(name), rendezvous.path.as_os_str()];
    let arguments = arguments.into_iter().chain(words[1..].iter().map(OsString::as_os_str));
    let child = sudo::launcher(&sudo, &launcher, arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Refusal::Other(format!("cannot run sudo: {}", reason(&error))))?;
    // After the start: sudo asks for a password with signals as they were.
    let signals = Session::signals()?;
    let privileged = Privileged::new(name, child).map_err(waiting)?;
    let (started, warning, _in_use) = match ask(&rendezvous, privileged, &signals, caller, &mut streams)? {
        Asked::Session { started, warning, in_use } => (started, warning, in_use),
        Asked::Said(text) => return Ok(manage::print(&text)),
        Asked::Signal(signal) => return Ok(Ending::Signal(signal)),
    };
    drop(rendezvous);
    if let Some(warning) = warning {
        report::notice(words, &warning);
    }
    let relays = streams.start_relays().map_err(run::copying)?;
    let mut session = Session::join(signals, started, &streams)?;
    drop(streams);
    let end = session.run()?;
    run::conclude(end, relays, |_, _| Refusal::Other("the environment did not come up".to_owned()))
}

/// What asking came to.
enum Asked {
    /// What stays open meanwhile comes with it.
    Session {
        started: Started,
        warning: Option<String>,
        in_use: Vec<OwnedFd>,
    },
    Said(String),
    Signal(i32),
}

/// Meets the privileged launcher, hands the call's surroundings over, takes the session.
fn ask(
    rendezvous: &Rendezvous,
    mut privileged: Privileged,
    signals: &SignalFd,
    caller: &Caller,
    streams: &mut Streams,
) -> Result<Asked, Refusal> {
    let socket = loop {
        match wait(signals, &[rendezvous.listener.as_fd(), privileged.ended.as_fd()])? {
            Wait::Signal(signal) => {
                privileged.end(signal);
                return Ok(Asked::Signal(signal));
            }
            Wait::Ready(0) => {
                let (socket, _) = rendezvous.listener.accept().map_err(waiting)?;
                // Only root's launcher is let in; the folder already keeps others out.
                if peer::of(&socket).is_ok_and(|peer| peer.uid == 0) {
                    break socket;
                }
            }
            Wait::Ready(_) => return Err(privileged.refused()),
        }
    };
    // The second launcher goes on by itself, and sudo gives the terminal back.
    if let Wait::Signal(signal) = wait(signals, &[privileged.ended.as_fd()])? {
        return Ok(Asked::Signal(signal));
    }
    let _ = privileged.child.wait();
    hand_off(&socket, caller, streams).map_err(broken)?;
    match wait(signals, &[socket.as_fd()])? {
        Wait::Signal(signal) => return Ok(Asked::Signal(signal)),
        Wait::Ready(_) => {}
    }
    let mut receiver = Receiver::new();
    let (handed, beside) = receiver.receive(&socket).map_err(broken)?;
    let warning = match handed {
        Handed::Session { warning } => warning,
        Handed::Said { text } => return Ok(Asked::Said(text)),
        Handed::Refused { message } => return Err(Refusal::Other(message)),
    };
    let mut beside = beside.into_iter();
    let connection = beside.next();
    let connection =
        connection.ok_or_else(|| Refusal::Other("the privileged launcher sent no session".to_owned()))?;
    let starter = starter(socket, receiver).map_err(broken)?;
    let started = Started { socket: connection, starter: Some(starter), becomes: false };
    Ok(Asked::Session { started, warning, in_use: beside.collect() })
}

/// What came first.
enum Wait {
    Ready(usize),
    Signal(i32),
}

/// Waits for a descriptor, or for a signal that ends the call. A stop stops this process as it has stopped
/// sudo, and both go on together.
fn wait(signals: &SignalFd, descriptors: &[BorrowedFd<'_>]) -> Result<Wait, Refusal> {
    loop {
        let mut polled = vec![PollFd::new(signals, PollFlags::IN)];
        polled.extend(descriptors.iter().map(|one| PollFd::from_borrowed_fd(*one, PollFlags::IN)));
        match poll(&mut polled, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(waiting(error.into())),
        }
        // A signal first: the same key may have ended sudo too.
        let received = match polled.iter().position(|polled| !polled.revents().is_empty()) {
            Some(0) | None => signals.next_signal().map_err(waiting)?,
            Some(index) => return Ok(Wait::Ready(index - 1)),
        };
        let Some(received) = received else { continue };
        if inherited::ignored().contains(received.number) {
            continue;
        }
        if is_deadly(received.number) {
            return Ok(Wait::Signal(received.number));
        }
        if is_stop(received.number) {
            signals::stop_by(received.number);
        }
    }
}

fn hand_off(socket: &UnixStream, caller: &Caller, streams: &mut Streams) -> io::Result<()> {
    let surroundings = Surroundings::inherited();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let cwd = open(".", flags, Mode::empty()).ok();
    let handoff = Handoff {
        env: caller
            .env
            .iter()
            .map(|(name, value)| (name.clone().into_vec(), value.clone().into_vec()))
            .collect(),
        has_cwd: cwd.is_some(),
        umask: caller.umask,
        ignored: surroundings.ignored.bits(),
        blocked: surroundings.blocked.bits(),
        streams: streams.table.clone(),
        terminal: streams.window,
        modes: streams.modes.clone(),
    };
    let mut beside = std::mem::take(&mut streams.descriptors);
    beside.extend(cwd);
    message::send(socket, &handoff, &beside)
}

/// The second launcher is done when it closes the socket; before that it says why nothing came up, if so.
fn starter(socket: UnixStream, mut receiver: Receiver<Handed>) -> io::Result<Starter> {
    let watch = socket.try_clone()?.into();
    Ok(Starter::other(watch, move || {
        Ok(match receiver.receive(&socket) {
            Ok((Handed::Refused { message }, _)) => Outcome::Refused(message),
            _ => Outcome::Up,
        })
    }))
}

/// Sudo and what it started.
struct Privileged {
    name: String,
    child: Child,
    /// Becomes readable at its end.
    ended: OwnedFd,
}

impl Privileged {
    fn new(name: &str, child: Child) -> io::Result<Self> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let ended = pidfd_open(pid.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty())?;
        Ok(Self { name: name.to_owned(), child, ended })
    }

    /// Asks it to end, and waits for that: it may have the terminal without echo. A sudo that has become root
    /// altogether cannot be asked; then it has no question open any more.
    fn end(&mut self, signal: i32) {
        let Ok(pid) = i32::try_from(self.child.id()) else { return };
        if signals::send(pid, signal, false).is_ok() {
            let _ = self.child.wait();
        }
    }

    /// Why sudo did not start the second launcher.
    fn refused(&mut self) -> Refusal {
        let mut said = Vec::new();
        if let Some(stream) = self.child.stderr.take() {
            let _ = stream.take(64 << 10).read_to_end(&mut said);
        }
        let why = match self.child.wait() {
            Ok(status) => flake_tools::reason(&said, status),
            Err(error) => reason(&error),
        };
        Refusal::Other(format!(
            "runs as root and needs sudo, which refused: {why}; ask your administrator to allow: sudo {} {}",
            install::privileged().unwrap_or_default().display(),
            self.name,
        ))
    }
}

fn broken(error: io::Error) -> Refusal {
    Refusal::Other(format!("the privileged launcher broke off: {}", reason(&error)))
}

fn waiting(error: io::Error) -> Refusal {
    Refusal::Other(format!("cannot wait for sudo: {}", reason(&error)))
}

fn own_program(error: io::Error) -> Refusal {
    Refusal::Other(format!("cannot find the own program: {}", reason(&error)))
}
