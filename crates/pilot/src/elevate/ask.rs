//! The caller's side.

use super::message;
use super::rendezvous::Rendezvous;
use crate::ending::{Ending, Refusal};
use crate::{install, report, run};
use flake_core::caller::Caller;
use flake_core::registry::Registration;
use flake_engine::session::{Files, Session, Streams, Surroundings, is_deadly};
use flake_sys::peer;
use flake_sys::signals::SignalFd;
use flake_tools::sudo;
use flake_wire::{Handed, Handoff};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
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
    let sudo = sudo::find()?;
    let mut streams = Streams::gather(&words[1..], Files::Relayed)?;
    let rendezvous = Rendezvous::open(caller)
        .map_err(|error| Refusal::Other(format!("cannot make a socket for sudo: {error}")))?;
    let launcher = install::privileged().map_err(own_program)?;
    let arguments = [OsStr::new(name), rendezvous.path.as_os_str()];
    let arguments = arguments.into_iter().chain(words[1..].iter().map(OsString::as_os_str));
    let child = sudo::launcher(&sudo, &launcher, arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Refusal::Other(format!("cannot run sudo: {error}")))?;
    // After the start: sudo asks for a password with signals as they were.
    let signals = Session::signals()?;
    let mut privileged = Privileged { child };
    let socket = match meet(&rendezvous, &mut privileged, &signals, name)? {
        Met::Socket(socket) => socket,
        Met::Signal(signal) => return Ok(Ending::Signal(signal)),
    };
    drop(rendezvous);
    let (handed, beside) =
        hand_off(&socket, caller, &mut streams).map_err(|error| privileged.refused(name, &error))?;
    let warning = match handed {
        Handed::Session { warning } => warning,
        Handed::Refused { message } => return Err(Refusal::Other(message)),
    };
    if let Some(warning) = warning {
        report::notice(words, &warning);
    }
    let connection = beside.into_iter().next();
    let connection =
        connection.ok_or_else(|| Refusal::Other("the privileged launcher sent no session".to_owned()))?;
    // Sudo gives the terminal back at its end.
    privileged.finish();
    let relays = streams.start_relays();
    let mut session = Session::join(signals, connection, &streams)?;
    drop(streams);
    let end = session.run()?;
    run::conclude(end, relays, |_, _| Refusal::Other("the environment did not come up".to_owned()))
}

/// What came first.
enum Met {
    Socket(UnixStream),
    Signal(i32),
}

/// Waits for the privileged launcher, for sudo's refusal, or for a signal.
fn meet(
    rendezvous: &Rendezvous,
    privileged: &mut Privileged,
    signals: &SignalFd,
    name: &str,
) -> Result<Met, Refusal> {
    let ended = privileged.pidfd().map_err(waiting)?;
    loop {
        let mut polled = [
            PollFd::new(&rendezvous.listener, PollFlags::IN),
            PollFd::new(&ended, PollFlags::IN),
            PollFd::new(signals, PollFlags::IN),
        ];
        match poll(&mut polled, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(waiting(error.into())),
        }
        let [listener, sudo, signal] = polled.map(|polled| !polled.revents().is_empty());
        if listener {
            let (socket, _) = rendezvous.listener.accept().map_err(waiting)?;
            // Only root's launcher is let in; the folder already keeps others out.
            if peer::of(&socket).is_ok_and(|peer| peer.uid == 0) {
                return Ok(Met::Socket(socket));
            }
        } else if sudo {
            return Err(privileged.refused(name, &io::ErrorKind::ConnectionAborted.into()));
        } else if signal
            && let Some(received) = signals.next_signal().map_err(waiting)?
            && is_deadly(received.number)
        {
            return Ok(Met::Signal(received.number));
        }
    }
}

fn hand_off(
    socket: &UnixStream,
    caller: &Caller,
    streams: &mut Streams,
) -> io::Result<(Handed, Vec<OwnedFd>)> {
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
    message::send(socket, &handoff, &beside)?;
    drop(beside);
    message::receive(socket)
}

/// Sudo and what it started.
struct Privileged {
    child: Child,
}

impl Privileged {
    fn pidfd(&self) -> io::Result<OwnedFd> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        Ok(pidfd_open(pid.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty())?)
    }

    /// Waits for its end.
    fn finish(&mut self) {
        let _ = self.child.wait();
    }

    /// Why it did not answer.
    fn refused(&mut self, name: &str, error: &io::Error) -> Refusal {
        let mut said = Vec::new();
        if let Some(stream) = self.child.stderr.take() {
            let _ = stream.take(64 << 10).read_to_end(&mut said);
        }
        let why = match self.child.wait() {
            Ok(status) => flake_tools::reason(&said, status),
            Err(_) => error.to_string(),
        };
        Refusal::Other(format!(
            "runs as root and needs sudo, which refused: {why}; ask your administrator to allow: sudo {} {name}",
            install::privileged().unwrap_or_default().display(),
        ))
    }
}

fn waiting(error: io::Error) -> Refusal {
    Refusal::Other(format!("cannot wait for sudo: {error}"))
}

fn own_program(error: io::Error) -> Refusal {
    Refusal::Other(format!("cannot find the own program: {error}"))
}
