//! The caller's side.

use super::borrow_kept;
use super::message::{self, Receiver};
use super::privileged::Privileged;
use crate::ending::{Ending, Refusal};
use crate::kept::manage;
use crate::{install, report, run};
use flake_core::caller::Caller;
use flake_core::registry::Registration;
use flake_core::words::{LauncherOption, Words};
use flake_engine::rendezvous::Rendezvous;
use flake_engine::session::{Files, Session, Streams, Surroundings};
use flake_engine::{Outcome, Started, Starter};
use flake_schema::FlakeName;
use flake_sys::inherited;
use flake_sys::peer;
use flake_sys::reason::reason;
use flake_sys::signals::{self, SignalFd, is_deadly, is_stop};
use flake_tools::sudo;
use flake_wire::{Handed, Handoff};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::Signal;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

/// How often is looked whether sudo is stopped.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How a call went.
pub(super) enum Called {
    /// It ended, in a kept instance with this label.
    Ended(Ending, Option<String>),
    /// It means one of the instances with these labels, and has to say which.
    Several(Vec<String>),
    /// The data of the instance with this label would be lost, and has to be given up first.
    Losing(String),
}

/// What comes with the words of a call.
pub(super) struct Asking<'a> {
    pub(super) options: &'a [LauncherOption],
    /// The label of the instance whose data the caller has given up.
    pub(super) given_up: Option<String>,
}

/// Runs a call of a flake that runs as root, for a caller who is not root.
pub(crate) fn run_elevated(
    words: &[OsString],
    registration: &Registration,
    caller: &Caller,
) -> Result<Ending, Refusal> {
    let name = &registration.loaded.name;
    if registration.loaded.flake.lifetime.is_mutable() {
        return borrow_kept::run(words, name, caller);
    }
    let options = Words::divide(words[1..].iter().cloned()).options;
    match call(words, name, &Asking { options: &options, given_up: None }, caller)? {
        Called::Ended(ending, _) => Ok(ending),
        Called::Several(_) | Called::Losing(_) => {
            Err(Refusal::Other("the privileged launcher is of another release".to_owned()))
        }
    }
}

/// Makes one call through sudo.
pub(super) fn call(
    words: &[OsString],
    name: &FlakeName,
    Asking { options, given_up }: &Asking<'_>,
    caller: &Caller,
) -> Result<Called, Refusal> {
    let name = name.as_str();
    let sudo = sudo::find()?;
    let wants_terminal = options.contains(&LauncherOption::Interactive);
    let mut streams = run::gather(&words[1..], Files::Relayed, wants_terminal)?;
    let rendezvous = Rendezvous::open(caller.xdg("XDG_RUNTIME_DIR"))
        .map_err(|error| Refusal::Other(format!("cannot make a socket for sudo: {}", reason(&error))))?;
    let launcher = install::privileged().map_err(own_program)?;
    let arguments = [OsStr::new(name), rendezvous.name.path.as_os_str()];
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
    let notice = |text: &str| report::progress(words, options, text);
    let asked = ask(&rendezvous, privileged, &signals, (caller, &mut streams, given_up.as_deref()), &notice)?;
    let (started, warning, instance, in_use) = match asked {
        Asked::Session { started, warning, instance, in_use } => (started, warning, instance, in_use),
        Asked::Done(called) => return Ok(called),
    };
    drop(rendezvous);
    if let Some(warning) = warning {
        report::notice(words, &warning);
    }
    let relays = streams.start_relays().map_err(run::copying)?;
    let mut session = Session::join(signals, started, &streams)?.with_notes(report::note);
    drop(streams);
    let end = session.run()?;
    drop((session, in_use));
    let lost = |_, _| Refusal::Other("the environment did not come up".to_owned());
    Ok(Called::Ended(run::conclude(end, relays, lost)?, instance))
}

/// What asking came to.
enum Asked {
    /// What stays open meanwhile comes with it.
    Session { started: Started, warning: Option<String>, instance: Option<String>, in_use: Vec<OwnedFd> },
    /// There is no session.
    Done(Called),
}

impl Asked {
    fn ended(ending: Ending) -> Self {
        Self::Done(Called::Ended(ending, None))
    }
}

/// Meets the privileged launcher, hands the call's surroundings over, takes the session.
fn ask(
    rendezvous: &Rendezvous,
    mut privileged: Privileged,
    signals: &SignalFd,
    (caller, streams, given_up): (&Caller, &mut Streams, Option<&str>),
    notice: &dyn Fn(&str),
) -> Result<Asked, Refusal> {
    let socket = loop {
        match wait(signals, &[rendezvous.listener.as_fd(), privileged.ended.as_fd()], Some(&privileged))? {
            Wait::Signal(signal) => {
                privileged.end(signal);
                return Ok(Asked::ended(Ending::Signal(signal)));
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
    if let Wait::Signal(signal) = wait(signals, &[privileged.ended.as_fd()], Some(&privileged))? {
        return Ok(Asked::ended(Ending::Signal(signal)));
    }
    let _ = privileged.child.wait();
    hand_off(&socket, caller, streams, given_up).map_err(broken)?;
    let mut receiver = Receiver::new();
    let mut beside = Vec::new();
    let (warning, instance) = loop {
        let received = receiver.received().map_err(broken)?;
        let (handed, more) = match received {
            Some(received) => received,
            None => match wait(signals, &[socket.as_fd()], None)? {
                Wait::Signal(signal) => return Ok(Asked::ended(Ending::Signal(signal))),
                Wait::Ready(_) => receiver.receive(&socket).map_err(broken)?,
            },
        };
        // What comes in one piece with a notice belongs to what comes behind it.
        beside.extend(more);
        match handed {
            Handed::Notice { text } => notice(&text),
            Handed::Session { warning, instance } => break (warning, instance),
            Handed::Said { text } => return Ok(Asked::ended(manage::print(&text))),
            Handed::Several { labels } => return Ok(Asked::Done(Called::Several(labels))),
            Handed::Losing { label } => return Ok(Asked::Done(Called::Losing(label))),
            Handed::Refused { message } => return Err(Refusal::Other(message)),
        }
    };
    let mut beside = beside.into_iter();
    let connection = beside.next();
    let connection =
        connection.ok_or_else(|| Refusal::Other("the privileged launcher sent no session".to_owned()))?;
    let starter = starter(socket, receiver).map_err(broken)?;
    let started = Started { socket: connection, starter: Some(starter), becomes: false };
    Ok(Asked::Session { started, warning, instance, in_use: beside.collect() })
}

/// What came first.
enum Wait {
    Ready(usize),
    Signal(i32),
}

/// Waits for a descriptor, or for a signal that ends the call. A stop stops this process as it has stopped
/// sudo, and both go on together; a sudo that has stopped itself a moment too late stops this process, too.
fn wait(
    signals: &SignalFd,
    descriptors: &[BorrowedFd<'_>],
    sudo: Option<&Privileged>,
) -> Result<Wait, Refusal> {
    let look = sudo.and_then(|_| Timespec::try_from(LOOK_AGAIN).ok());
    loop {
        let mut polled = vec![PollFd::new(signals, PollFlags::IN)];
        polled.extend(descriptors.iter().map(|one| PollFd::from_borrowed_fd(*one, PollFlags::IN)));
        match poll(&mut polled, look.as_ref()) {
            Ok(0) => {
                if let Some(sudo) = sudo.filter(|sudo| sudo.is_stopped()) {
                    signals::stop_by(Signal::TSTP.as_raw());
                    sudo.go_on();
                }
                continue;
            }
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

fn hand_off(
    socket: &UnixStream,
    caller: &Caller,
    streams: &mut Streams,
    given_up: Option<&str>,
) -> io::Result<()> {
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
        given_up: given_up.map(str::to_owned),
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

fn broken(error: io::Error) -> Refusal {
    Refusal::Other(format!("the privileged launcher broke off: {}", reason(&error)))
}

fn waiting(error: io::Error) -> Refusal {
    Refusal::Other(format!("cannot wait for sudo: {}", reason(&error)))
}

fn own_program(error: io::Error) -> Refusal {
    Refusal::Other(format!("cannot find the own program: {}", reason(&error)))
}
