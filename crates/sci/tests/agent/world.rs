//! The agent that all cases share.

use crate::client::Client;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::ffi::CString;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use crate::namespace::{World, missing, until};

impl World {
    /// Starts the agent.
    pub(crate) fn start() -> &'static Self {
        let sci = CString::new(program().into_os_string().into_vec()).expect("a path");
        let words = [&sci, c"--", c"/bin/echo", c"image"].map(CString::from);
        Self::with(words, &["PATH=/usr/bin:/bin", "IMAGE=own", "LISTEN_FDS=1"])
    }

    /// Waits for the agent's own end; its exit status and the last line that it said.
    pub(crate) fn ended(&self) -> (i32, String) {
        let status = waitpid(Some(self.unshare()), WaitOptions::empty()).expect("an end");
        let log = std::fs::read_to_string(self.path("log")).expect("a log");
        let status = status.and_then(|(_, status)| status.exit_status()).unwrap_or(-1);
        (status, log.lines().last().unwrap_or_default().to_owned())
    }

    /// Sends the agent a signal, as podman does.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.agent()).expect("a pid"), signal).expect("a running agent");
    }

    /// A line of the agent's `/proc/PID/status`, as a number.
    pub(crate) fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.agent())).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).expect("a number")
    }

    /// A connection that has greeted.
    pub(crate) fn client(&self) -> Client {
        Client::greeted(self.stream())
    }

    /// A connection that has said nothing.
    pub(crate) fn stream(&self) -> UnixStream {
        let stream = UnixStream::connect(self.socket()).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out");
        stream
    }
}

/// The agent as it is shipped, where it was staged.
pub(crate) fn staged() -> Option<PathBuf> {
    let stage = std::env::var_os("FLAKE_STAGE")?;
    Some(Path::new(&stage).join("libexec/flake-pilot/sci"))
}

fn program() -> PathBuf {
    staged().unwrap_or_else(|| env!("CARGO_BIN_EXE_sci").into())
}

/// Run inside the namespace: connects and says how many bytes the agent answered with.
#[expect(clippy::print_stdout, reason = "this is a program of its own")]
pub(crate) fn knock(path: &str) -> ExitCode {
    let mut bytes = Vec::new();
    let read = UnixStream::connect(Path::new(std::ffi::OsStr::from_bytes(path.as_bytes())))
        .and_then(|mut stream| stream.read_to_end(&mut bytes));
    println!("{}", read.map_or_else(|error| error.to_string(), |length| length.to_string()));
    ExitCode::SUCCESS
}
