//! An agent with a listening socket in a pid namespace, with `/etc` and `/var/lib` of its own.

use flake_core::guest::{Guest, GuestError, Heard, Script, ScriptEnd};
use flake_core::launch::{Identity, Launch};
use flake_engine::guest::AgentGuest;
use flake_schema::{ProvisionMode, Scratch, Target};
use flake_sys::signals::SignalSet;
use flake_sys::spawn::{Command, spawn};
use rustix::process::{Pid, Signal, WaitOptions, geteuid, kill_process, waitpid};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the agent finds is thrown away with it.
const SETUP: &str = r#"
    mount -t tmpfs none /var/lib && mkdir /var/lib/etc && cp -a /etc/. /var/lib/etc/ &&
        mount --bind /var/lib/etc /etc && mount -t tmpfs none /var/lib && exec "$0" -- true"#;

/// An agent.
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
    /// Starts an agent.
    pub(crate) fn start() -> &'static Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        std::fs::set_permissions(folder.path(), everybody).expect("a folder for all");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        let sci = CString::new(env!("CARGO_BIN_EXE_sci")).expect("a path");
        let setup = CString::new(SETUP).expect("a script");
        let words = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "/bin/sh", "-c"];
        let words = words.map(|word| CString::new(word).expect("a word"));
        let running = spawn(Command {
            candidates: vec![c"/usr/bin/unshare".into()],
            argv: words.into_iter().chain([setup, sci]).collect(),
            env: vec![c"PATH=/usr/sbin:/usr/bin:/sbin:/bin".into(), c"LISTEN_FDS=1".into()],
            cwd: Some(c"/".into()),
            ids: None,
            umask: None,
            ignored: SignalSet::default(),
            blocked: SignalSet::default(),
            descriptors: vec![(0, null()), (1, null()), (2, null()), (3, listener.into())],
            terminal: None,
        });
        let unshare = running.expect("unshare").pid;
        Box::leak(Box::new(Self { folder, unshare }))
    }

    /// Ends it, with everything in its namespace.
    pub(crate) fn end(&self) {
        let pid = Pid::from_raw(self.unshare).expect("a pid");
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
        let _ = std::fs::remove_dir_all(self.folder.path());
    }

    /// The agent's socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// A place for a case's files, the same inside and outside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The instance.
    pub(crate) fn guest<'a>(&self, launch: &'a Launch) -> AgentGuest<'a> {
        guest(self.socket(), launch)
    }

    /// The agent's process id on the host: the child of `unshare`.
    pub(crate) fn agent(&self) -> i32 {
        let children = format!("/proc/{0}/task/{0}/children", self.unshare);
        let children = std::fs::read_to_string(children).expect("children");
        children.split_whitespace().next().expect("a child").parse().expect("a number")
    }
}

/// The instance behind a socket.
pub(crate) fn guest(socket: PathBuf, launch: &Launch) -> AgentGuest<'_> {
    AgentGuest::new(Box::new(move || UnixStream::connect(&socket).map(OwnedFd::from)), launch)
}

/// A launch of somebody, or of the image's user.
pub(crate) fn launch(uid: Option<u32>) -> Launch {
    let identity = uid.map(|uid| Identity {
        uid,
        gid: uid,
        name: "ada".into(),
        group: "ada".into(),
        gecos: String::new(),
        home: "/nowhere".into(),
        empty_home: false,
        zone: None,
    });
    let variables = [("HOME", "/nowhere"), ("USER", "ada"), ("KEY", "value")];
    Launch {
        name: "dev".parse().expect("a name"),
        file: "/dev.yaml".into(),
        uid: uid.unwrap_or_default(),
        as_root: false,
        image: "dev".into(),
        reference: "dev".into(),
        image_state: String::new(),
        archive: None,
        target: Target::Entrypoint,
        args: Vec::new(),
        network: None,
        binds: Vec::new(),
        passing: None,
        env: match identity {
            Some(_) => variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            None => BTreeMap::new(),
        },
        workdir: None,
        identity,
        scratch: Scratch::Memory,
        options: Vec::new(),
        umask: 0o077,
        warning: None,
    }
}

/// A script of root's with five seconds.
pub(crate) fn script(text: &str) -> Script<'_> {
    Script { text, mode: ProvisionMode::System, env: &[], timeout: Some(Duration::from_secs(5)) }
}

/// How a script ended, and what it wrote.
pub(crate) fn run(guest: &mut dyn Guest, script: &Script<'_>) -> Result<(ScriptEnd, Vec<u8>), GuestError> {
    let mut written = Vec::new();
    let end = guest.run(script, &mut |heard| {
        if let Heard::Output(bytes) = heard {
            written.extend_from_slice(bytes);
        }
    })?;
    Ok((end, written))
}

/// What a script wrote that succeeds.
pub(crate) fn written(guest: &mut dyn Guest, text: &str) -> Result<String, GuestError> {
    let (end, written) = run(guest, &script(text))?;
    let written = String::from_utf8_lossy(&written).into_owned();
    assert!(end.is_success(), "{end}: {written}");
    Ok(written)
}

/// Processes whose command line has a word, as the host sees them.
pub(crate) fn having(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())).count()
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
