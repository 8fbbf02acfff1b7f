//! An agent with a listening socket, in a pid namespace of its own.

use crate::client::Client;
use flake_sys::signals::SignalSet;
use flake_sys::spawn::{Command, spawn};
use rustix::process::{Pid, Signal, geteuid, kill_process, waitpid};
use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What all cases share.
#[derive(Debug)]
pub(crate) struct World {
    folder: tempfile::TempDir,
    unshare: i32,
}

/// Why the cases cannot run here.
pub(crate) fn missing() -> Option<String> {
    if !geteuid().is_root() {
        return Some("a pid namespace takes root".into());
    }
    (!Path::new("/usr/bin/unshare").exists()).then(|| "no unshare; try: apt-get install util-linux".into())
}

impl World {
    /// Starts the agent.
    pub(crate) fn start() -> &'static Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        let log = File::create(folder.path().join("log")).expect("a log");
        let sci = CString::new(program().into_os_string().into_vec()).expect("a path");
        let words = [
            c"unshare",
            c"--pid",
            c"--fork",
            c"--mount-proc",
            c"--kill-child",
            &sci,
            c"--",
            c"/bin/echo",
            c"image",
        ];
        let running = spawn(Command {
            candidates: vec![c"/usr/bin/unshare".into()],
            argv: words.iter().map(|word| CString::from(*word)).collect(),
            env: vec![c"PATH=/usr/bin:/bin".into(), c"IMAGE=own".into(), c"LISTEN_FDS=1".into()],
            cwd: Some(c"/".into()),
            ids: None,
            umask: None,
            ignored: SignalSet::default(),
            blocked: SignalSet::default(),
            descriptors: vec![(0, null()), (1, null()), (2, log.into()), (3, listener.into())],
            terminal: None,
        });
        let unshare = running.expect("unshare").pid;
        Box::leak(Box::new(Self { folder, unshare }))
    }

    /// Ends it, with everything in its namespace.
    pub(crate) fn end(&self) {
        let pid = Pid::from_raw(self.unshare).expect("a pid");
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), rustix::process::WaitOptions::empty());
        let _ = std::fs::remove_dir_all(self.folder.path());
    }

    /// Waits for the agent's own end; its exit status and the last line that it said.
    pub(crate) fn ended(&self) -> (i32, String) {
        let pid = Pid::from_raw(self.unshare).expect("a pid");
        let status = waitpid(Some(pid), rustix::process::WaitOptions::empty()).expect("an end");
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

    /// The agent's socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// A place for a case's files.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
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

    /// The agent's process id on the host: the child of `unshare`.
    pub(crate) fn agent(&self) -> i32 {
        let children = format!("/proc/{0}/task/{0}/children", self.unshare);
        let children = std::fs::read_to_string(children).expect("children");
        children.split_whitespace().next().expect("a child").parse().expect("a number")
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

fn null() -> OwnedFd {
    File::options().read(true).write(true).open("/dev/null").expect("/dev/null").into()
}

/// Waits for something that is going to be so.
pub(crate) fn until(what: &str, done: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < limit, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
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
