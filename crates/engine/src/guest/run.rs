//! A script from its request to its end.

use super::talk::{Event, Talk, strayed};
use super::who::Who;
use flake_core::guest::{GuestError, Heard, Script, ScriptEnd};
use flake_sys::reason::reason;
use flake_wire::{Closing, Exec, Frame, Program, Reply, Request, SignalTarget, Source, Stream};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::ioctl_fionbio;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long a script that was killed may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(2);
/// The most that a pipe holds of what was written before its script ended (pipe(7)): what comes behind it is
/// of others that the script left running.
const PIPE_MAX: usize = 1 << 20;

/// Runs a script over a connection of its own.
pub(super) fn run(
    mut talk: Talk,
    script: &Script<'_>,
    who: Who,
    heard: &mut dyn FnMut(Heard<'_>),
) -> Result<ScriptEnd, GuestError> {
    // Counts from the script's start: what comes before has its own bounds.
    let mut limit = None;
    let (output, beside) = streams().map_err(|error| {
        GuestError::Unreachable(format!("cannot make the script's descriptors: {}", reason(&error)))
    })?;
    talk.output = Some(output);
    talk.ask(&Request::Exec(Box::new(exec(script, who))), beside)?;
    loop {
        if let Some((timeout, end)) = limit
            && Instant::now() >= end
        {
            kill(&mut talk, heard);
            return Ok(ScriptEnd::TimedOut(timeout));
        }
        let event = talk.next().inspect_err(|_| rest(&mut talk, heard))?;
        match event {
            Event::Nothing => heard(Heard::Running),
            Event::Output(bytes) => heard(Heard::Output(&bytes)),
            Event::Frame(Frame::Message(Reply::Started { .. })) => {
                talk.be_patient();
                limit = script.timeout.map(|timeout| (timeout, Instant::now() + timeout));
            }
            Event::Frame(Frame::Message(Reply::Stopped { .. })) => {}
            Event::Frame(Frame::Message(Reply::Failed(failure))) => {
                return Ok(ScriptEnd::NotRun(failure.message));
            }
            Event::Frame(Frame::Message(Reply::Exit(closing))) => {
                rest(&mut talk, heard);
                return Ok(match closing {
                    Closing::Exited(status) => ScriptEnd::Exited(status),
                    Closing::Killed(signal) => ScriptEnd::Killed(signal),
                });
            }
            Event::Frame(_) => return Err(strayed()),
        }
    }
}

/// The end of a pipe for what the script writes, and its standard descriptors.
fn streams() -> io::Result<(OwnedFd, [OwnedFd; 3])> {
    let null = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let (output, written) = pipe_with(PipeFlags::CLOEXEC)?;
    // Only this end: the other is the script's, which expects a plain one.
    ioctl_fionbio(&output, true)?;
    let error = written.try_clone()?;
    Ok((output, [null, written, error]))
}

fn exec(script: &Script<'_>, who: Who) -> Exec {
    Exec {
        program: Program::Script(script.text.into()),
        args: Vec::new(),
        env: who.env_with(script.env),
        cwd: None,
        cwd_is: None,
        user: who.ids,
        account: who.account,
        umask: Some(who.umask),
        ignored: 0,
        blocked: 0,
        streams: [0, 1, 2].map(|number| Stream { number, source: Source::Passed }).to_vec(),
        terminal: None,
        modes: None,
    }
}

/// Kills a script with its group, and waits until it is gone, so that the next try does not meet it.
fn kill(talk: &mut Talk, heard: &mut dyn FnMut(Heard<'_>)) {
    let number = u8::try_from(Signal::KILL.as_raw()).unwrap_or_default();
    let until = Instant::now() + GONE_WITHIN;
    let mut asked = talk.ask(&Request::Signal { number, target: SignalTarget::Group }, []);
    while asked.is_ok() && Instant::now() < until {
        match talk.next() {
            Ok(Event::Output(bytes)) => heard(Heard::Output(&bytes)),
            Ok(Event::Frame(Frame::Message(Reply::Exit(_) | Reply::Failed(_)))) => return rest(talk, heard),
            Ok(_) => {}
            Err(error) => asked = Err(error),
        }
    }
}

/// What is left in the pipe after the end.
fn rest(talk: &mut Talk, heard: &mut dyn FnMut(Heard<'_>)) {
    let mut length = 0;
    while let Some(bytes) = talk.read_output().filter(|_| length < PIPE_MAX) {
        length += bytes.len();
        heard(Heard::Output(&bytes));
    }
}
