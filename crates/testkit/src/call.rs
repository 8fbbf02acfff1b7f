//! Running a command to its end, with bytes in, bytes out and a deadline.

use std::fmt;
use std::io::{Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::error::Context as _;
use crate::{DEADLINE, Error, Result};

/// How a command ended and what it wrote.
#[derive(Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The exit status, when it was not killed.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Standard output, when it was a pipe.
    pub stdout: Vec<u8>,
    /// Standard error, when it was a pipe.
    pub stderr: Vec<u8>,
}

impl Outcome {
    fn new(status: ExitStatus, stdout: Vec<u8>, stderr: Vec<u8>) -> Self {
        Self { code: status.code(), signal: status.signal(), stdout, stderr }
    }

    /// Whether the exit status is 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// Standard output as text.
    #[must_use]
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    #[must_use]
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit status {code}")?,
            (None, signal) => write!(f, "killed by signal {}", signal.unwrap_or_default())?,
        }
        for (name, bytes) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            match bytes.len() {
                0 => {}
                n @ 1..2000 => write!(f, ", {n} bytes of {name} \"{}\"", bytes.escape_ascii())?,
                n => write!(f, ", {n} bytes of {name} \"{}...\"", bytes[..500].escape_ascii())?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A command about to be run: standard input holds the given bytes, output and errors are pipes unless set.
#[derive(Debug)]
pub struct Call {
    command: Command,
    input: Vec<u8>,
    deadline: Duration,
}

impl Call {
    /// Wraps `command`; its output and error streams become pipes, its input is empty.
    #[must_use]
    pub fn new(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, input: Vec::new(), deadline: DEADLINE }
    }

    /// Feeds these bytes through a pipe.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Takes something else than a pipe as standard input.
    #[must_use]
    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.command.stdin(stdin);
        self
    }

    /// Takes something else than a pipe as standard output.
    #[must_use]
    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    /// Waits longer than [`DEADLINE`], for work that takes its time.
    #[must_use]
    pub fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Starts it and gives the child, for a test that talks to it while it runs.
    ///
    /// # Errors
    ///
    /// When the program cannot be started.
    pub fn spawn(mut self) -> Result<Child> {
        spawn(&mut self.command)
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or runs past the deadline; it is killed then.
    pub fn run(mut self) -> Result<Outcome> {
        let name = format!("{:?}", self.command);
        let mut child = spawn(&mut self.command)?;
        // The parent's copies of what was handed over must not keep a pipe open.
        drop(self.command);
        let (input, stdin) = (self.input, child.stdin.take());
        let feeder = thread::spawn(move || {
            if let Some(mut stdin) = stdin {
                // A reader that stops early is its own business.
                let _ = stdin.write_all(&input);
            }
        });
        finish(child, &name, self.deadline).inspect(|_| {
            let _ = feeder.join();
        })
    }

    /// Runs it and insists on success.
    ///
    /// # Errors
    ///
    /// Like [`run`](Self::run), and when it exits with anything but 0.
    pub fn check(self) -> Result<Outcome> {
        let command = format!("{:?}", self.command);
        let outcome = self.run()?;
        if outcome.success() {
            return Ok(outcome);
        }
        Err(Error::Failed { command, outcome: Box::new(outcome) })
    }
}

/// Collects what is left of the output of `child` and its status.
fn finish(mut child: Child, name: &str, deadline: Duration) -> Result<Outcome> {
    let (done, ended) = mpsc::channel();
    let pid = child.id();
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    thread::spawn(move || {
        let status = child.wait();
        let _ = done.send((status, stdout.join(), stderr.join()));
    });
    let Ok((status, stdout, stderr)) = ended.recv_timeout(deadline) else {
        crate::processes::kill(pid, nix::sys::signal::Signal::SIGKILL);
        let (_, stdout, stderr) = ended.recv_timeout(deadline).map_err(|_| Error::Late {
            what: format!("the end of the output of {name}, which was killed"),
            seen: String::new(),
        })?;
        let seen = Outcome::new(
            ExitStatus::from_raw(nix::sys::signal::Signal::SIGKILL as i32),
            stdout.unwrap_or_default(),
            stderr.unwrap_or_default(),
        );
        return Err(Error::Late { what: format!("the end of {name}"), seen: seen.to_string() });
    };
    let status = status.context(|| format!("wait for {name}"))?;
    Ok(Outcome::new(status, stdout.unwrap_or_default(), stderr.unwrap_or_default()))
}

fn collect(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().context(|| format!("start {command:?}"))
}
