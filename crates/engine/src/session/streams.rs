//! The caller's file descriptors, as they go to the command: the terminal, those that are passed, and
//! those that a word of the command line names.

use super::relay::{Relay, Running};
use super::seat::UNSEEN;
use flake_sys::descriptor::{is_anonymous_pipe, is_harmless};
use flake_sys::inherited;
use flake_wire::{FDS_MAX, Modes, Source, Stream, Window};
use rustix::fs::{FileType, Mode, fchmod, fstat};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_getfd};
use rustix::process::getsid;
use rustix::termios::{isatty, tcgetattr, tcgetsid, tcgetwinsize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// The places in which a word names a descriptor.
const NAMES: [&[u8]; 2] = [b"/dev/fd/", b"/proc/self/fd/"];

/// What goes with a command.
#[derive(Debug)]
pub struct Streams {
    /// The command's descriptors.
    pub table: Vec<Stream>,
    /// Those that are passed, in the table's order.
    pub descriptors: Vec<OwnedFd>,
    /// The terminal's window, when one of them is the controlling terminal.
    pub window: Option<Window>,
    /// That terminal's settings.
    pub modes: Option<Modes>,
    /// The terminal is asked for, though the caller has none on standard input and output.
    pub(super) is_forced: bool,
    /// Copying between files and the pipes that stand for them.
    pub(super) relays: Vec<Relay>,
}

/// A descriptor cannot go with the command.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// It leads out of the environment.
    #[error("file descriptor {0} is a directory, which is not passed")]
    Directory(u16),
    /// More than a message takes.
    #[error("more than {FDS_MAX} file descriptors are named")]
    TooMany,
    /// The kernel refuses.
    #[error("cannot pass file descriptor {number}: {source}")]
    System {
        /// The descriptor.
        number: u16,
        /// Why.
        source: io::Error,
    },
}

/// How files go with the command, and what else could be opened again for more than it was opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// As they are.
    Passed,
    /// Through pipes. Root inside could open a passed file again, for writing.
    Relayed,
}

impl Streams {
    /// The same once more, for another try; what is copied between files and pipes stays with the first.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn again(&self) -> io::Result<Self> {
        Ok(Self {
            table: self.table.clone(),
            descriptors: self.descriptors.iter().map(OwnedFd::try_clone).collect::<Result<_, _>>()?,
            window: self.window,
            is_forced: self.is_forced,
            modes: self.modes.clone(),
            relays: Vec::new(),
        })
    }

    /// This process' descriptors 0 to 2, and those that the words name as `/dev/fd/N`.
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn gather(words: &[OsString], files: Files) -> Result<Self, StreamError> {
        let mut streams = Self {
            table: Vec::new(),
            descriptors: Vec::new(),
            window: None,
            modes: None,
            is_forced: false,
            relays: Vec::new(),
        };
        for number in 0..3_u8 {
            if !inherited::was_closed(number) {
                streams.add(u16::from(number), files)?;
            }
        }
        for number in named(words) {
            streams.add_named(number, files)?;
        }
        Ok(streams)
    }

    /// A terminal as standard input, output and error, for which the caller's input and output stand, and those that
    /// the words name. Where both are terminals anyway this is [`Self::gather`].
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn at_terminal(words: &[OsString], files: Files) -> Result<Self, StreamError> {
        let plain = Self::gather(words, files)?;
        let is_terminal = |number: u16| {
            let found = plain.table.iter().find(|stream| stream.number == number);
            found.is_some_and(|stream| stream.source == Source::Terminal)
        };
        if is_terminal(0) && is_terminal(1) {
            return Ok(plain);
        }
        let table = (0..3).map(|number| Stream { number, source: Source::Terminal }).collect();
        let window = Some(plain.window.unwrap_or(UNSEEN));
        let mut streams =
            Self { table, descriptors: Vec::new(), window, modes: None, is_forced: true, relays: Vec::new() };
        for number in named(words).into_iter().filter(|number| *number > 2) {
            streams.add_named(number, files)?;
        }
        Ok(streams)
    }

    /// Those that another launcher has gathered; none when they do not fit each other.
    #[must_use]
    pub fn received(
        table: Vec<Stream>,
        descriptors: Vec<OwnedFd>,
        window: Option<Window>,
        modes: Option<Modes>,
    ) -> Option<Self> {
        let streams = Self { table, descriptors, window, modes, is_forced: false, relays: Vec::new() };
        let has_terminal = streams.table.iter().any(|stream| stream.source == Source::Terminal);
        let fits = streams.passed().count() == streams.descriptors.len() && has_terminal == window.is_some();
        fits.then_some(streams)
    }

    /// Starts copying between files and their pipes. Comes after the last process was started.
    ///
    /// # Errors
    /// No thread or descriptor is left.
    pub fn start_relays(&mut self) -> io::Result<Relays> {
        Ok(Relays(self.relays.drain(..).map(Relay::start).collect::<io::Result<_>>()?))
    }

    /// Whether anything has to be copied between files and pipes.
    #[must_use]
    pub fn has_relays(&self) -> bool {
        !self.relays.is_empty()
    }

    /// Lets go of what another process copies.
    pub fn forget_relays(&mut self) {
        self.relays.clear();
    }

    /// Whether the command's output is the terminal, so that nobody behind it in a pipeline writes there.
    pub(super) fn has_whole_screen(&self) -> bool {
        self.table.iter().any(|stream| stream.number == 1 && stream.source == Source::Terminal)
    }

    /// The numbers of those that are passed.
    pub(super) fn passed(&self) -> impl Iterator<Item = u16> {
        self.table.iter().filter(|stream| stream.source == Source::Passed).map(|stream| stream.number)
    }

    fn add(&mut self, number: u16, files: Files) -> Result<(), StreamError> {
        let Some(descriptor) = inherited::open(number) else { return Ok(()) };
        let failed = |source: rustix::io::Errno| StreamError::System { number, source: source.into() };
        if is_controlling_terminal(descriptor) {
            let size = tcgetwinsize(descriptor).map_err(failed)?;
            self.window = Some(super::request::window(size));
            self.modes = tcgetattr(descriptor).ok().map(|termios| super::request::modes(&termios));
            self.table.push(Stream { number, source: Source::Terminal });
            return Ok(());
        }
        let kind = fstat(descriptor).map(|stat| FileType::from_raw_mode(stat.st_mode)).map_err(failed)?;
        if kind == FileType::Directory {
            return Err(StreamError::Directory(number));
        }
        if self.descriptors.len() >= FDS_MAX {
            return Err(StreamError::TooMany);
        }
        let passed = if files == Files::Relayed && !is_harmless(descriptor) {
            let (relay, passed) = Relay::new(number, descriptor, &self.relays)
                .map_err(|source| StreamError::System { number, source })?;
            self.relays.extend(relay);
            passed
        } else {
            open_to_image_users(descriptor);
            fcntl_dupfd_cloexec(descriptor, 3).map_err(failed)?
        };
        self.descriptors.push(passed);
        self.table.push(Stream { number, source: Source::Passed });
        Ok(())
    }

    /// A descriptor that a word names: pipes and files that the caller's shell opened for it.
    fn add_named(&mut self, number: u16, files: Files) -> Result<(), StreamError> {
        let Some(descriptor) = inherited::open(number) else { return Ok(()) };
        // This process' own: for the command it does not exist.
        if fcntl_getfd(descriptor).is_ok_and(|flags| flags.contains(FdFlags::CLOEXEC)) {
            return Ok(());
        }
        match fstat(descriptor).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Ok(FileType::Fifo | FileType::RegularFile) => self.add(number, files),
            Ok(FileType::Directory) => Err(StreamError::Directory(number)),
            _ => Ok(()),
        }
    }
}

/// Copies under way.
#[derive(Debug, Default)]
pub struct Relays(Vec<Running>);

impl Relays {
    /// Waits until all that the command has written is in its files, and leaves those that it has read as
    /// far as it has.
    ///
    /// # Errors
    /// What writing a file said first.
    pub fn finish(self) -> io::Result<()> {
        self.0.into_iter().map(Running::finish).fold(Ok(()), io::Result::and)
    }
}

/// A program inside that opens /dev/stdout anew does so with the rights of the image's user, and a pipe
/// belongs to the caller. Only those who can look into a process can reach its anonymous pipes at all.
fn open_to_image_users(descriptor: BorrowedFd<'_>) {
    if is_anonymous_pipe(descriptor) {
        let _ = fchmod(descriptor, Mode::from_raw_mode(0o666));
    }
}

fn is_controlling_terminal(descriptor: BorrowedFd<'_>) -> bool {
    isatty(descriptor)
        && matches!((tcgetsid(descriptor), getsid(None)), (Ok(terminals), Ok(own)) if terminals == own)
}

/// The numbers above 2 that words name.
fn named(words: &[OsString]) -> BTreeSet<u16> {
    let mut numbers = BTreeSet::new();
    for word in words {
        let word = word.as_bytes();
        for name in NAMES {
            let found = (0..word.len()).filter(|start| word[*start..].starts_with(name));
            for start in found {
                let digits = word[start + name.len()..].iter().take_while(|byte| byte.is_ascii_digit());
                let digits: String = digits.map(|byte| char::from(*byte)).collect();
                numbers.extend(digits.parse::<u16>().ok().filter(|number| *number > 2));
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_descriptors() {
        let words =
            ["/dev/fd/63", "--in=/proc/self/fd/5,/dev/fd/6", "/dev/fd/1", "/dev/fd/", "/dev/fd/99999999"];
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        assert_eq!(named(&words).into_iter().collect::<Vec<_>>(), [5, 6, 63]);
    }
}
