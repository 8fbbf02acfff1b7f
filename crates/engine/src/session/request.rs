//! The request for a command, made of a launch, its streams and what the caller inherited.

use super::Streams;
use flake_core::launch::{Identity, Launch};
use flake_core::share::Bind;
use flake_schema::Target;
use flake_sys::inherited;
use flake_sys::signals::SignalSet;
use flake_wire::{Account, Exec, Ids, Modes, Program, Window};
use rustix::fs::stat;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// What of the caller goes with the command besides its streams.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Ignored signals.
    pub ignored: SignalSet,
    /// Blocked signals.
    pub blocked: SignalSet,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn inherited() -> Self {
        Self { ignored: inherited::ignored(), blocked: inherited::blocked() }
    }
}

/// The request that runs a launch's command.
#[must_use]
pub fn exec(launch: &Launch, becomes: bool, streams: &Streams, surroundings: &Surroundings) -> Exec {
    let identity = launch.identity.as_ref().filter(|_| becomes);
    Exec {
        program: match &launch.target {
            Target::Entrypoint => Program::Image,
            Target::Program(path) => Program::Path(path.clone().into_bytes()),
        },
        args: launch.args.iter().map(|word| word.as_bytes().to_vec()).collect(),
        env: launch
            .env
            .iter()
            .map(|(name, value)| (name.clone().into_vec(), value.clone().into_vec()))
            .collect(),
        cwd: launch.workdir.as_ref().map(|path| path.as_os_str().as_bytes().to_vec()),
        cwd_is: launch.passing.as_ref().and_then(identity_of),
        user: identity.map(ids),
        account: identity.map(account),
        umask: Some(launch.umask),
        ignored: surroundings.ignored.bits(),
        blocked: surroundings.blocked.bits(),
        streams: streams.table.clone(),
        terminal: streams.window,
        modes: streams.modes.clone(),
    }
}

/// The device and inode of a shared folder.
fn identity_of(folder: &Bind) -> Option<(u64, u64)> {
    let stat = stat(folder.source.as_deref().unwrap_or(Path::new("."))).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// The ids that an identity has inside.
#[must_use]
pub fn ids(identity: &Identity) -> Ids {
    Ids { uid: identity.uid, gid: identity.gid, groups: vec![identity.gid] }
}

/// The account that an identity is inside.
#[must_use]
pub fn account(identity: &Identity) -> Account {
    Account {
        uid: identity.uid,
        gid: identity.gid,
        name: identity.name.clone(),
        group: identity.group.clone(),
        gecos: identity.gecos.clone(),
        home: identity.home.as_os_str().as_bytes().to_vec(),
        owns_home: identity.empty_home,
    }
}

/// A terminal's settings for the agent.
pub(super) fn modes(termios: &rustix::termios::Termios) -> Modes {
    Modes {
        input: termios.input_modes.bits(),
        output: termios.output_modes.bits(),
        control: termios.control_modes.bits(),
        local: termios.local_modes.bits(),
        characters: flake_sys::pty::characters(termios),
    }
}

/// A window's size for the agent.
pub(super) fn window(size: rustix::termios::Winsize) -> Window {
    Window { rows: size.ws_row, columns: size.ws_col, width: size.ws_xpixel, height: size.ws_ypixel }
}
