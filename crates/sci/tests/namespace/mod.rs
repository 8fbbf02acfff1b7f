//! An agent with a listening socket, in a pid namespace of its own, for all tests that talk to one.

use flake_sys::signals::SignalSet;
use flake_sys::spawn::{Command, spawn};
use rustix::process::{Pid, Signal, WaitOptions, geteuid, kill_process, waitpid};
use std::ffi::CString;
use std::fs::{File, set_permissions};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An agent and the folder that its cases share.
#[derive(Debug)]
pub(crate) struct World {
    folder: tempfile::TempDir,
    unshare: i32,
}

/// Why the cases cannot run here.
pub(crate) fn missing() -> Option<String> {
    if !geteuid().is_root() {
        return Some("namespaces take root".into());
    }
    (!Path::new("/usr/bin/unshare").exists()).then(|| "no unshare; try: apt-get install util-linux".into())
}

impl World {
    /// Starts `words` in the namespace, which become the agent. It finds these variables, and what it says goes to
    /// the file `log`.
    pub(crate) fn with(words: impl IntoIterator<Item = CString>, env: &[&str]) -> &'static Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        set_permissions(folder.path(), everybody).expect("a folder for all");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        let log = File::create(folder.path().join("log")).expect("a log");
        let unshare = [c"unshare", c"--pid", c"--fork", c"--mount-proc", c"--kill-child"].map(CString::from);
        let running = spawn(Command {
            candidates: vec![c"/usr/bin/unshare".into()],
            argv: unshare.into_iter().chain(words).collect(),
            env: env.iter().map(|variable| CString::new(*variable).expect("a variable")).collect(),
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
        let _ = kill_process(self.unshare(), Signal::KILL);
        let _ = waitpid(Some(self.unshare()), WaitOptions::empty());
        let _ = std::fs::remove_dir_all(self.folder.path());
    }

    /// The process that made the namespace and ends as the agent does.
    pub(crate) fn unshare(&self) -> Pid {
        Pid::from_raw(self.unshare).expect("a pid")
    }

    /// The agent's socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path("socket")
    }

    /// A place for a case's files, the same inside and outside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The agent's process id on the host: the child of `unshare`.
    pub(crate) fn agent(&self) -> i32 {
        let children = format!("/proc/{0}/task/{0}/children", self.unshare);
        let children = std::fs::read_to_string(children).expect("children");
        children.split_whitespace().next().expect("a child").parse().expect("a number")
    }
}

/// Waits for something that is going to be so.
pub(crate) fn until(what: &str, done: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < limit, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn null() -> OwnedFd {
    File::options().read(true).write(true).open("/dev/null").expect("/dev/null").into()
}
