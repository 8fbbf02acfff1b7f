//! The request for a command, made of a launch, its streams and what the caller inherited.

use super::Streams;
use flake_core::launch::Launch;
use flake_schema::Target;
use flake_sys::inherited;
use flake_sys::signals::SignalSet;
use flake_wire::{Exec, Modes, Program, Window};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

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
pub fn exec(launch: &Launch, streams: &Streams, surroundings: &Surroundings) -> Exec {
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
        user: None,
        umask: Some(launch.umask),
        ignored: surroundings.ignored.bits(),
        blocked: surroundings.blocked.bits(),
        streams: streams.table.clone(),
        terminal: streams.window,
        modes: streams.modes.clone(),
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
