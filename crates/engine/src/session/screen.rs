//! Output of the agent's terminal on the caller's, when the kernel processes it a second time there.
//!
//! Raw mode on the caller's terminal would leave the line feeds of everybody else in a pipeline without
//! their carriage returns, and in the background the terminal may not be changed at all. Then its output
//! processing stays on, and what the agent's terminal has added is taken away again.

use rustix::termios::{OutputModes, tcgetattr};
use std::os::fd::OwnedFd;

/// How the caller's terminal shows output.
#[derive(Debug)]
pub(super) struct Screen {
    /// Nobody else in the pipeline is expected to write to the terminal.
    is_whole: bool,
    /// The agent's terminal adds carriage returns, as far as is known.
    adds_returns: bool,
    /// The caller's terminal was left to add them too.
    is_kept: bool,
    /// A carriage return that may belong to a line feed still to come.
    held: bool,
}

impl Screen {
    pub(super) fn new(is_whole: bool) -> Self {
        Self { is_whole, adds_returns: true, is_kept: false, held: false }
    }

    /// Whether the caller's terminal goes on processing output while its keyboard is raw: not for a
    /// program that draws, which has switched its own terminal's processing off.
    pub(super) fn keeps_processing(&mut self, master: Option<&OwnedFd>) -> bool {
        self.look(master);
        self.is_kept = !self.is_whole && self.adds_returns;
        self.is_kept
    }

    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Whether the agent's terminal has switched its processing since the last look, where that matters.
    pub(super) fn changed(&mut self, master: &OwnedFd) -> bool {
        let before = self.adds_returns;
        self.look(Some(master));
        !self.is_whole && self.adds_returns != before
    }

    fn look(&mut self, master: Option<&OwnedFd>) {
        if let Some(termios) = master.and_then(|master| tcgetattr(master).ok()) {
            self.adds_returns = termios.output_modes.contains(OutputModes::OPOST | OutputModes::ONLCR);
        }
    }

    /// Appends what is to be written. `is_processed` says whether the caller's terminal adds carriage returns.
    pub(super) fn show(&mut self, bytes: &[u8], is_processed: bool, shown: &mut Vec<u8>) {
        let takes_away = is_processed && self.adds_returns;
        for byte in bytes {
            if self.held && !(takes_away && *byte == b'\n') {
                shown.push(b'\r');
            }
            self.held = takes_away && *byte == b'\r';
            if !self.held {
                shown.push(*byte);
            }
        }
    }

    /// The end of the output.
    pub(super) fn finish(&mut self, shown: &mut Vec<u8>) {
        if std::mem::take(&mut self.held) {
            shown.push(b'\r');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parts: &[&[u8]], is_processed: bool) -> Vec<u8> {
        let mut screen = Screen::new(false);
        let mut shown = Vec::new();
        for part in parts {
            screen.show(part, is_processed, &mut shown);
        }
        screen.finish(&mut shown);
        shown
    }

    #[test]
    fn one_return_is_taken_from_each_line_end() {
        assert_eq!(shown(&[b"a\r\nb\r\r\nc\rd\r"], true), b"a\nb\r\nc\rd\r");
        assert_eq!(shown(&[b"a\r", b"\nb\r", b"c"], true), b"a\nb\rc");
        assert_eq!(shown(&[b"a\r\n\r"], false), b"a\r\n\r");
    }
}
