//! The terminal of a command.

use flake_sys::pty::{self, Pty};
use flake_sys::reason::reason;
use flake_wire::{Exec, Failure, FailureKind, Modes, Window};
use rustix::fs::fchown;
use rustix::process::Uid;
use rustix::termios::{
    ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, Termios, Winsize, tcgetattr,
    tcsetattr, tcsetwinsize,
};
use std::os::fd::OwnedFd;

/// Opens a command's terminal, set as the caller's is.
pub(crate) fn open(window: Window, exec: &Exec) -> Result<Pty, Failure> {
    let pty = pty::open().map_err(|error| Failure {
        kind: FailureKind::Other,
        message: format!("cannot open a terminal inside: {}", reason(&error)),
    })?;
    set_window(&pty.slave, window);
    // Programs open it again by its name.
    if let Some(user) = &exec.user {
        let _ = fchown(&pty.slave, Some(Uid::from_raw(user.uid)), None);
    }
    if let (Some(modes), Ok(mut current)) = (&exec.modes, tcgetattr(&pty.slave)) {
        apply(modes, &mut current);
        let _ = tcsetattr(&pty.slave, OptionalActions::Now, &current);
    }
    Ok(pty)
}

fn apply(modes: &Modes, termios: &mut Termios) {
    termios.input_modes = InputModes::from_bits_retain(modes.input);
    termios.output_modes = OutputModes::from_bits_retain(modes.output);
    termios.control_modes = ControlModes::from_bits_retain(modes.control);
    termios.local_modes = LocalModes::from_bits_retain(modes.local);
    pty::set_characters(termios, &modes.characters);
}

/// Gives a terminal's window a size.
pub(crate) fn set_window(terminal: &OwnedFd, window: Window) {
    let Window { rows, columns, width, height } = window;
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: width, ws_ypixel: height };
    let _ = tcsetwinsize(terminal, size);
}
