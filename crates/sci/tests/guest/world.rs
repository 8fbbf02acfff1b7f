//! The agent of a case, with `/etc` and `/var/lib` of its own.

use flake_core::guest::{Guest, GuestError, Heard, Script, ScriptEnd};
use flake_core::launch::{Identity, Launch};
use flake_engine::guest::AgentGuest;
use flake_schema::{ProvisionMode, Scratch, Target};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use crate::namespace::{World, missing, until};

/// What the agent finds is thrown away with it.
const SETUP: &str = r#"
    mount -t tmpfs none /var/lib && mkdir /var/lib/etc && cp -a /etc/. /var/lib/etc/ &&
        mount --bind /var/lib/etc /etc && mount -t tmpfs none /var/lib && exec "$0" -- true"#;

impl World {
    /// Starts an agent.
    pub(crate) fn start() -> &'static Self {
        let words = ["/bin/sh", "-c", SETUP, env!("CARGO_BIN_EXE_sci")];
        let words = words.map(|word| CString::new(word).expect("a word"));
        Self::with(words, &["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LISTEN_FDS=1"])
    }

    /// The instance.
    pub(crate) fn guest<'a>(&self, launch: &'a Launch) -> AgentGuest<'a> {
        guest(self.socket(), launch)
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
