//! Containers of podman, with the agent as their init.

mod absent;
mod import;
mod kept;
mod options;
mod words;

pub(crate) use kept::image_user;
pub use kept::{Entered, Keeper, LOOK_AFTER, remove};
pub use words::{becomes, created};

use crate::start::{Engine, EngineError, Started, Starter, failed, system};
use flake_core::launch::Launch;
use flake_sys::signals::SignalSet;
use flake_sys::spawn::{self, Command};
use flake_tools::podman::Podman as Tool;
use flake_tools::reason;
use rustix::fs::{Mode, OFlags, open};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{CString, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::ExitStatus;

/// The descriptor on which the agent finds its connection; podman hands on those from 3 up.
const HANDED_OVER: u16 = 3;

/// Words of podman's, newuidmap's and the store's messages about missing subordinate ids.
const SUBORDINATE: [&str; 5] = ["subuid", "subgid", "uidmap", "gidmap", "insufficient uids"];

/// The engine.
#[derive(Debug)]
pub struct Podman {
    tool: Tool,
    agent: PathBuf,
    is_root: bool,
}

impl Podman {
    /// With an installed podman, and the agent's program.
    #[must_use]
    pub fn new(tool: Tool, agent: PathBuf) -> Self {
        Self { tool, agent, is_root: rustix::process::geteuid().is_root() }
    }

    /// Podman itself.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.tool
    }
}

impl Engine for Podman {
    fn start(&self, launch: &Launch) -> Result<Started, EngineError> {
        let words = words::run(launch, &self.agent, self.is_root)?;
        let (ours, agents) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(system("cannot make a socket pair"))?;
        let starter = self.spawn(words, agents)?;
        Ok(Started { socket: ours, starter: Some(starter), becomes: words::becomes(launch) })
    }

    fn explain(&self, launch: &Launch, status: ExitStatus, said: &[u8]) -> EngineError {
        let text = String::from_utf8_lossy(said);
        if text.contains("image not known") || text.contains("no such image") {
            return absent::image(launch);
        }
        if absent::is_about_layers(&text) {
            return absent::layers(launch);
        }
        if text.contains("is already in use") {
            return EngineError::NameInUse(reason(said, status));
        }
        let is_about_ids = SUBORDINATE.iter().any(|word| text.to_lowercase().contains(word));
        if is_about_ids && let Some(user) = user_without_subordinate_ids(launch.uid) {
            return EngineError::NoSubordinateIds { user };
        }
        failed("podman", status, said)
    }
}

impl Podman {
    /// Starts podman with these words, its own name first, and a descriptor that it hands on to the agent.
    fn spawn(&self, words: Vec<OsString>, handed_over: OwnedFd) -> Result<Starter, EngineError> {
        if !self.agent.is_file() {
            return Err(EngineError::NoAgent(self.agent.display().to_string()));
        }
        let (said, error) = pipe_with(PipeFlags::CLOEXEC).map_err(system("cannot make a pipe"))?;
        let null = || {
            open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
                .map_err(system("cannot open /dev/null"))
        };
        let command = Command {
            candidates: strings([self.tool.program().path().into()])?,
            argv: strings(words)?,
            env: strings(self.environment())?,
            // Options may name relative paths; a removed directory would fail podman.
            cwd: std::env::current_dir().is_err().then(|| c"/".to_owned()),
            ids: None,
            umask: Some(0o022),
            ignored: SignalSet::default(),
            blocked: SignalSet::default(),
            descriptors: vec![(0, null()?), (1, null()?), (2, error), (HANDED_OVER, handed_over)],
            terminal: None,
        };
        // Those who have read what podman said before are gone in a moment.
        spawn::await_one_thread();
        let running = spawn::spawn(command)
            .map_err(|error| EngineError::System { what: "cannot run podman", source: error.source })?;
        Starter::child(running.pid, said).map_err(system("cannot watch podman"))
    }

    /// Podman's environment, and the word that there is a descriptor to hand on.
    fn environment(&self) -> Vec<OsString> {
        let mut variables = self.tool.variables();
        variables.insert("LISTEN_FDS".into(), "1".into());
        variables
            .into_iter()
            .map(|(mut pair, value)| {
                pair.push("=");
                pair.push(value);
                pair
            })
            .collect()
    }
}

fn strings(words: impl IntoIterator<Item = OsString>) -> Result<Vec<CString>, EngineError> {
    words.into_iter().map(|word| CString::new(word.into_vec())).collect::<Result<_, _>>().map_err(|error| {
        EngineError::System { what: "a word for podman contains a NUL byte", source: error.into() }
    })
}

/// The user's name, when neither file of subordinate ids has a line for them.
fn user_without_subordinate_ids(uid: u32) -> Option<String> {
    let name = flake_tools::users::by_uid(uid).ok()?.map_or_else(|| uid.to_string(), |entry| entry.name);
    let has_line = |file: &str| {
        std::fs::read_to_string(file).is_ok_and(|text| {
            text.lines()
                .filter_map(|line| line.split(':').next())
                .any(|user| user == name || user == uid.to_string())
        })
    };
    (!has_line("/etc/subuid") || !has_line("/etc/subgid")).then_some(name)
}
