//! Running an external program to its end.

use flake_sys::{bound, interrupt};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

/// The most bytes that a captured standard output may have: the largest answer is the inspection of an
/// image, which is well below.
const OUTPUT_MAX: u64 = 64 << 20;
/// How much of standard error's end is kept for the message.
const TAIL: usize = 1024;
/// How podman begins the line that says why it failed.
const ERROR: &str = "Error: ";

/// An external program did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It is not installed.
    #[error("{program} is not installed; try: {install}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// A command that brings it.
        install: &'static str,
    },
    /// It could not be started.
    #[error("cannot run {program}: {source}")]
    Start {
        /// Its path.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A file that says the same as the program cannot be read.
    #[error("cannot read {file}: {source}")]
    File {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// What it is to read cannot be had.
    #[error("cannot read what {program} is to have: {source}")]
    Input {
        /// Its name.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// It is older than what is supported.
    #[error("{program} {found} is too old, {minimum} is needed")]
    TooOld {
        /// Its name.
        program: &'static str,
        /// Its version.
        found: String,
        /// The minimum.
        minimum: &'static str,
    },
    /// It ended with a failure.
    #[error("{program} {verb} failed: {reason}")]
    Failed {
        /// Its name.
        program: String,
        /// What it was to do.
        verb: String,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it said, one line, or its status.
        reason: String,
    },
    /// Its answer is not what the supported versions give.
    #[error("{program} {verb} gave an unexpected answer: {reason}")]
    Unexpected {
        /// Its name.
        program: String,
        /// What it was to do.
        verb: String,
        /// What is wrong with it.
        reason: String,
    },
    /// This process was asked to stop by a signal meanwhile.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
}

impl ToolError {
    /// What the program itself said, for those who look for a known cause.
    #[must_use]
    pub fn said(&self) -> &str {
        match self {
            Self::Failed { reason, .. } => reason,
            _ => "",
        }
    }
}

/// Runs a program and returns its standard output.
///
/// # Streams
/// Standard input is empty; output and error are captured, the end of the latter goes into the error.
///
/// # Errors
/// Anything but exit status 0.
pub fn capture(command: &mut Command) -> Result<Vec<u8>, ToolError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = start(command)?;
    let output = child.stdout.take();
    let error = child.stderr.take();
    let output = thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.map_or(Ok(0), |stream| stream.take(OUTPUT_MAX).read_to_end(&mut bytes));
        read.map(|_| bytes)
    });
    let error = thread::spawn(move || error.map_or_else(Vec::new, tail_of));
    let status = wait(&mut child)?;
    let output = output.join().unwrap_or_else(|_| Ok(Vec::new()));
    let error = error.join().unwrap_or_default();
    if !status.success() {
        return Err(failed(command, status, &error));
    }
    output.map_err(|source| ToolError::Start { program: display(command), source })
}

/// Runs a program that speaks to the user itself and returns how it ended.
///
/// # Streams
/// Standard input is empty; output and error are this process' own.
///
/// # Errors
/// The program could not be run, or this process was interrupted.
pub fn show(command: &mut Command) -> Result<ExitStatus, ToolError> {
    command.stdin(Stdio::null());
    wait(&mut start(command)?)
}

/// Runs a program that reads what `write` gives it.
///
/// # Streams
/// Standard input is a pipe, output is thrown away; the end of error goes into the error.
///
/// # Errors
/// Anything but exit status 0; else what `write` failed with.
pub(crate) fn feed(
    command: &mut Command,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
) -> Result<(), ToolError> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = start(command)?;
    let input = child.stdin.take();
    let error = child.stderr.take();
    let (sender, written) = mpsc::channel();
    // Nobody waits for it when the program has failed: it may read from where nothing comes.
    thread::spawn(move || {
        let written = input.map_or(Ok(()), |mut input| write(&mut input));
        // Nobody may be left to hear of it.
        let _ = sender.send(written);
    });
    let error = thread::spawn(move || error.map_or_else(Vec::new, tail_of));
    let status = wait(&mut child)?;
    if !status.success() {
        return Err(failed(command, status, &error.join().unwrap_or_default()));
    }
    match written.recv() {
        Ok(Err(source)) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(ToolError::Input { program: display(command), source })
        }
        _ => Ok(()),
    }
}

fn start(command: &mut Command) -> Result<Child, ToolError> {
    bound::bind(command);
    if interrupt::is_held() {
        // Out of reach of the keys of the terminal, which signal the whole foreground group.
        command.process_group(0);
    }
    command.spawn().map_err(|source| ToolError::Start { program: display(command), source })
}

/// Waits for a child; a request to stop is handed to it, and waited for no longer than it takes to end.
fn wait(child: &mut Child) -> Result<ExitStatus, ToolError> {
    let failed = |source| ToolError::Start { program: "a child process".to_owned(), source };
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let watched = pid.and_then(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?)));
    if let Some((pid, pidfd)) = watched
        && !interrupt::wait_readable(&pidfd).map_err(failed)?
    {
        let signal = interrupt::pending().and_then(Signal::from_named_raw).unwrap_or(Signal::TERM);
        let _ = kill_process(pid, signal);
    }
    let status = child.wait().map_err(failed)?;
    match interrupt::pending() {
        Some(signal) => Err(ToolError::Interrupted(signal)),
        None => Ok(status),
    }
}

/// The error for a program that ended with a failure.
pub(crate) fn failed(command: &Command, status: ExitStatus, said: &[u8]) -> ToolError {
    let words = command.get_args().map(|word| word.to_string_lossy());
    let verb: Vec<_> = words.take_while(|word| !word.starts_with('-')).take(2).collect();
    ToolError::Failed {
        program: display(command),
        verb: verb.join(" "),
        status,
        reason: reason(said, status),
    }
}

/// What a program said at its end, as one line; its status where it said nothing.
#[must_use]
pub fn reason(said: &[u8], status: ExitStatus) -> String {
    let text = String::from_utf8_lossy(said);
    // Where to read about options is no reason.
    let is_hint = |line: &str| line.starts_with("See '") && line.contains("--help");
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_hint(line));
    let last = lines.clone().rfind(|line| line.starts_with(ERROR)).or_else(|| lines.next_back());
    match last.map(message) {
        Some(line) => line.chars().filter(|sign| !sign.is_control()).collect(),
        None => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "no exit status".to_owned(),
        },
    }
}

/// The message of a line: after podman's mark, or the fatal one of a log in logfmt, as skopeo writes it.
fn message(line: &str) -> String {
    let logged = line.starts_with("time=").then(|| line.split_once(" level=fatal msg=")).flatten();
    match logged {
        Some((_, quoted)) => match serde_json::from_str(quoted) {
            Ok(text) => text,
            // One word is not quoted.
            Err(_) => quoted.trim_matches('"').to_owned(),
        },
        None => line.trim_start_matches(ERROR).to_owned(),
    }
}

/// The last bytes of a stream, which is read to its end.
fn tail_of(mut stream: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..length]);
        let surplus = kept.len().saturating_sub(TAIL);
        kept.drain(..surplus);
    }
    kept
}

fn display(command: &Command) -> String {
    let path = std::path::Path::new(command.get_program());
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_carries_the_last_line() {
        let error = capture(Command::new("sh").args(["-c", "echo one >&2; echo 'Error: two' >&2; exit 3"]));
        let error = error.unwrap_err();
        assert_eq!(error.said(), "two");
        assert!(matches!(error, ToolError::Failed { status, .. } if status.code() == Some(3)));
    }

    #[test]
    fn the_reason_is_what_went_wrong() {
        for (said, why) in [
            ("Error: unknown flag: --x\nSee 'podman create --help'\n", "unknown flag: --x"),
            ("Error: no room\ntime=\"now\" level=warning msg=\"left\"\n", "no room"),
            ("one\ntwo\n\n", "two"),
            (
                r#"time="2026-01-02T03:04:05Z" level=fatal msg="reading \"a\": denied""#,
                "reading \"a\": denied",
            ),
            ("time=\"now\" level=fatal msg=denied", "denied"),
            ("See 'podman --help'", "exit status 0"),
        ] {
            assert_eq!(reason(said.as_bytes(), ExitStatus::default()), why, "{said}");
        }
    }

    #[test]
    fn a_silent_failure_carries_its_status() {
        let error = capture(Command::new("sh").args(["-c", "kill -9 $$"])).unwrap_err();
        assert_eq!(error.said(), "killed by signal 9");
    }

    #[test]
    fn output_comes_whole() {
        let output = capture(Command::new("sh").args(["-c", "seq 1 100000"])).unwrap();
        assert!(output.ends_with(b"100000\n"));
    }
}
