//! A command as the leader of a session whose controlling terminal is a pseudo terminal of the test.

use std::fs::{File, Permissions};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{PermissionsExt as _, fchown};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::error::Context as _;
use crate::screen::Screen;
use crate::{Error, Result, until};

/// How a command under a terminal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The exit status, when it was not killed.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Everything the terminal showed, control characters escaped.
    pub seen: String,
}

/// A pseudo terminal with a running session on it, made by [`Subject::terminal`](crate::Subject::terminal).
#[derive(Debug)]
pub struct Terminal {
    /// None after a hang-up.
    master: Option<File>,
    child: Child,
    screen: Arc<Screen>,
    /// Closing it ends the reader.
    stop: Option<OwnedFd>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Starts `session`, which makes itself a session leader, as `setsid --ctty` does, on a terminal that
    /// belongs to the user with id `owner`.
    pub(crate) fn start(mut session: Command, owner: u32, rows: u16, columns: u16) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).context(|| "open a pseudo terminal")?;
        rustix::pty::unlockpt(&master).context(|| "unlock a pseudo terminal")?;
        let inner = rustix::pty::ioctl_tiocgptpeer(&master, flags).context(|| "open a terminal")?;
        fchown(&inner, Some(owner), None).context(|| "give a terminal away")?;
        let inner = File::from(inner);
        inner.set_permissions(Permissions::from_mode(0o620)).context(|| "close a terminal to others")?;
        set_size(&master, rows, columns)?;
        let copy = || inner.try_clone().map(Stdio::from).context(|| "copy a terminal");
        session.stdin(copy()?).stdout(copy()?).stderr(copy()?);
        let child = session.spawn().context(|| format!("start {session:?}"))?;
        drop((session, inner));

        let screen = Arc::new(Screen::default());
        let (stopped, stop) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).context(|| "make a pipe")?;
        let master = File::from(master);
        let source = master.try_clone().context(|| "copy a terminal")?;
        let target = Arc::clone(&screen);
        let reader = thread::spawn(move || watch(source, &stopped, &target));
        Ok(Self { master: Some(master), child, screen, stop: Some(stop), reader: Some(reader) })
    }

    /// The id of the session leader.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything shown so far, control characters escaped.
    #[must_use]
    pub fn seen(&self) -> String {
        self.screen.text()
    }

    /// Waits until `text` is shown after what was expected before.
    ///
    /// # Errors
    ///
    /// When it is not shown before the deadline, or the session ends first.
    pub fn expect(&self, text: &str) -> Result<()> {
        self.screen.expect(text)
    }

    /// Types `keys`.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub fn send(&self, keys: &str) -> Result<()> {
        self.master()?.write_all(keys.as_bytes()).context(|| "type on a terminal")
    }

    /// Changes the size of the window; the foreground group gets a SIGWINCH.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub fn resize(&self, rows: u16, columns: u16) -> Result<()> {
        set_size(self.master()?, rows, columns)
    }

    /// The modes of the terminal, as something that can be compared and shown.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub fn modes(&self) -> Result<String> {
        let modes = rustix::termios::tcgetattr(self.master()?).context(|| "read terminal modes")?;
        Ok(format!("{modes:?}"))
    }

    /// Waits for the end of the session and of everything that has the terminal open.
    ///
    /// # Errors
    ///
    /// When that takes longer than the deadline.
    pub fn end(mut self) -> Result<Ended> {
        let status = self.status()?;
        let closed = || self.screen.closed().then_some(());
        until("the last process to leave the terminal", closed, || self.seen())?;
        Ok(Ended { code: status.code(), signal: status.signal(), seen: self.seen() })
    }

    /// Hangs up, as closing a terminal window does, and waits for the end of the session leader.
    ///
    /// # Errors
    ///
    /// When the session leader does not end before the deadline.
    pub fn hang_up(mut self) -> Result<()> {
        // The terminal hangs up when both descriptors of its master are closed, the reader's and this one.
        self.stop_reader();
        self.master = None;
        self.status().map(drop)
    }

    fn master(&self) -> Result<&File> {
        self.master.as_ref().ok_or_else(|| Error::Setup("the terminal is hung up".to_owned()))
    }

    fn status(&mut self) -> Result<ExitStatus> {
        let (child, screen) = (&mut self.child, &self.screen);
        until("the end of the session leader", || child.try_wait().ok().flatten(), || screen.text())
    }

    fn stop_reader(&mut self) {
        self.stop = None;
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.stop_reader();
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Copies what the terminal shows until everybody has closed it or `stopped` is hung up.
fn watch(mut source: File, stopped: &OwnedFd, screen: &Screen) {
    let mut buffer = [0; 16 * 1024];
    loop {
        let (terminal, stop) = (source.as_fd(), stopped.as_fd());
        let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(&stop, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
            Ok(_) => {}
        }
        if !fds[1].revents().is_empty() {
            break;
        }
        match source.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => screen.add(&buffer[..n]),
        }
    }
    screen.close();
}

fn set_size(master: impl std::os::fd::AsFd, rows: u16, columns: u16) -> Result<()> {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(master, size).context(|| "size a terminal")
}
