//! Pseudo-terminals.

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, unlockpt};
use rustix::termios::{SpecialCodeIndex, Termios};
use std::io;
use std::os::fd::OwnedFd;

/// Both ends of a new pseudo-terminal, closed on exec.
#[derive(Debug)]
pub struct Pty {
    /// The end of whoever shows the terminal.
    pub master: OwnedFd,
    /// The end of the program on the terminal.
    pub slave: OwnedFd,
}

/// Opens a pseudo-terminal in the devpts of this mount namespace.
///
/// # Errors
/// What the kernel says; `NotFound` where no devpts is mounted.
pub fn open() -> io::Result<Pty> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    // The instance's own multiplexer first: /dev/ptmx may be a link, a device or nothing at all.
    let master = rustix::fs::open("/dev/pts/ptmx", flags, Mode::empty())
        .or_else(|_| rustix::fs::open("/dev/ptmx", flags, Mode::empty()))?;
    unlockpt(&master)?;
    let peer = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let slave = ioctl_tiocgptpeer(&master, peer)?;
    Ok(Pty { master, slave })
}

/// The special characters of a terminal's settings, in the kernel's order.
#[must_use]
pub fn characters(termios: &Termios) -> Vec<u8> {
    CHARACTERS.iter().map(|index| termios.special_codes[*index]).collect()
}

/// Sets the special characters, as many as are given.
pub fn set_characters(termios: &mut Termios, characters: &[u8]) {
    for (index, character) in CHARACTERS.iter().zip(characters) {
        termios.special_codes[*index] = *character;
    }
}

/// The kernel's order, the unused ones left out.
const CHARACTERS: [SpecialCodeIndex; 16] = [
    SpecialCodeIndex::VINTR,
    SpecialCodeIndex::VQUIT,
    SpecialCodeIndex::VERASE,
    SpecialCodeIndex::VKILL,
    SpecialCodeIndex::VEOF,
    SpecialCodeIndex::VTIME,
    SpecialCodeIndex::VMIN,
    SpecialCodeIndex::VSTART,
    SpecialCodeIndex::VSTOP,
    SpecialCodeIndex::VSUSP,
    SpecialCodeIndex::VEOL,
    SpecialCodeIndex::VREPRINT,
    SpecialCodeIndex::VDISCARD,
    SpecialCodeIndex::VWERASE,
    SpecialCodeIndex::VLNEXT,
    SpecialCodeIndex::VEOL2,
];
